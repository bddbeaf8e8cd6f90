"""`kb export`: entries as the three-column table, CSV or JSON lines."""

from __future__ import annotations

import sys
from enum import Enum
from typing import Annotated

import typer

from kbtool.cli.app import command_app, complete_id

app = command_app()


class Format(str, Enum):
    """The forms an export can have."""

    TABLE = "table"
    CSV = "csv"
    JSONL = "jsonl"


@app.command()
def export(
    ids: Annotated[list[str] | None, typer.Argument(metavar="[ID]...", autocompletion=complete_id, help="Entries to export; default: all that are not retired.")] = None,
    form: Annotated[Format, typer.Option("--format", help="Three columns, the parts of each entry, or whole files.")] = Format.TABLE,
    domain: Annotated[str | None, typer.Option("--domain", metavar="NAME", help="Only this domain.")] = None,
    chinese: Annotated[bool, typer.Option("--chinese", help="Chinese headings for the table.")] = False,
    everything: Annotated[bool, typer.Option("--all", help="Retired entries too.")] = False,
) -> None:
    """Export entries: phenomenon | root-cause pattern | verify command. JSON lines hold the whole files.

    Example: kb export --format csv > faults.csv
    """
    from kbtool.cli.render import tell
    from kbtool.errors import ExitStatus
    from kbtool.knowledge.exporting import write_csv, write_jsonl, write_table
    from kbtool.knowledge.layers import find_layers, unknown_id
    from kbtool.knowledge.reading import read_library
    from kbtool.model import Status

    library = read_library(find_layers())
    for problem in library.problems:
        tell(f"kb: {problem}")
    known = {entry.id: entry for entry in library.entries}
    for missing in [wanted for wanted in ids or [] if wanted not in known]:
        raise unknown_id(missing, list(known))
    chosen = [known[wanted] for wanted in ids] if ids else [entry for entry in library.entries if everything or entry.status is not Status.RETIRED]
    chosen = [entry for entry in chosen if domain in (None, entry.domain)]
    if form is Format.CSV:
        text = write_csv(chosen)
    elif form is Format.JSONL:
        text = write_jsonl((entry, entry.path.read_bytes().decode("utf-8")) for entry in chosen)
    else:
        text = write_table(chosen, chinese=chinese)
    sys.stdout.buffer.write(text.encode("utf-8"))
    sys.stdout.buffer.flush()
    raise typer.Exit(ExitStatus.OK if not library.problems else ExitStatus.ERROR)

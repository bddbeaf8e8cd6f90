"""`kb search`: entries by their words."""

from __future__ import annotations

from typing import Annotated

import typer

from kbtool.cli.app import command_app

app = command_app()


@app.command()
def search(
    words: Annotated[list[str], typer.Argument(metavar="WORD…", help="Words to look for, in any language and order.")],
    limit: Annotated[int, typer.Option("--limit", min=1, help="How many entries at most.")] = 20,
    as_json: Annotated[bool, typer.Option("--json", help="Print the hits as JSON.")] = False,
) -> None:
    """Search the entries' texts; those that hold every word, or where none does, some. Exit 1 when nothing is found.

    Example: kb search shared memory
    """
    from kbtool.cli.render import print_json, safe_line, styled, tell
    from kbtool.errors import ExitStatus
    from kbtool.knowledge.layers import find_layers
    from kbtool.matching.index import open_index
    from kbtool.matching.search import search as find

    index = open_index(find_layers())
    for problem in index.problems:
        tell(str(problem))
    hits = find(" ".join(words), index, limit=limit)
    if as_json:
        print_json([{"id": h.record.id, "domain": h.record.domain, "title": h.record.title, "path": h.record.path, "found": round(h.found, 3)} for h in hits])
    for hit in hits if not as_json else ():
        typer.echo(f"{styled(hit.record.id, 'cyan')}  {safe_line(hit.record.title)}")
    if not hits and not as_json:
        tell(f"no entry holds `{' '.join(words)}`", hint="`kb match` takes a whole error message")
    raise typer.Exit(ExitStatus.OK if hits else ExitStatus.NEGATIVE)

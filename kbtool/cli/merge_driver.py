"""kb merge-driver: what git calls to merge two branches of an entry; not for people, and not listed."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from kbtool.cli.app import command_app
from kbtool.errors import ExitStatus

app = command_app()


@app.command()
def merge_driver(
    base: Annotated[Path, typer.Argument(help="The common ancestor (%O).")],
    ours: Annotated[Path, typer.Argument(help="This side (%A); takes the result.")],
    theirs: Annotated[Path, typer.Argument(help="The other side (%B).")],
    name: Annotated[str, typer.Argument(help="The entry's path (%P).")] = "",
) -> int:
    """Unite the outcome rows of two branches and leave the rest to git. Exit 1 when conflicts are marked in the file.

    Example, in .git/config: driver = kb merge-driver %O %A %B %P
    """
    from kbtool.durable import write_atomically
    from kbtool.knowledge.merging import merge_entries

    merged = merge_entries(base.read_bytes(), ours.read_bytes(), theirs.read_bytes())
    write_atomically(ours, merged.data)
    return ExitStatus.NEGATIVE if merged.conflicts else ExitStatus.OK

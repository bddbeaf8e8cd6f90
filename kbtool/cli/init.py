"""`kb init`: a base of entries to start from."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from kbtool.cli.app import command_app

app = command_app()


@app.command()
def init(
    folder: Annotated[Path, typer.Argument(metavar="[DIR]", help="Where the base shall be.")] = Path("entries"),
) -> None:
    """Start a base: the eight domain pages, and the merge driver that unites outcomes of two branches. What exists is left as it is.

    Example: kb init
    """
    from kbtool.cli.render import safe_line, tell
    from kbtool.knowledge.starting import start_base

    made = start_base(folder)
    for path in made:
        typer.echo(safe_line(str(path)))
    if made:
        tell(f"{folder}: the base is ready", hint="`kb add` writes its first entry")
    else:
        tell(f"{folder}: is a complete base already, nothing was changed")

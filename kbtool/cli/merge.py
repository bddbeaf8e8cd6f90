"""`kb merge`: two entries of the same fault become one, with both histories."""

from __future__ import annotations

from typing import Annotated

import typer

from kbtool.cli.app import command_app, complete_id

app = command_app()


@app.command()
def merge(
    gone: Annotated[str, typer.Argument(metavar="ID", autocompletion=complete_id, help="The entry that goes.")],
    kept: Annotated[str, typer.Argument(metavar="INTO", help="The entry that stays.")],
) -> None:
    """Unite an entry into another one: its wordings, outcomes and texts are kept there, and its file goes.

    Example: kb merge cuda-oom-in-eval cuda-out-of-memory
    """
    from kbtool.cli.render import tell
    from kbtool.knowledge.layers import find_layers
    from kbtool.review.changing import merge as unite

    changed = unite(gone, kept, find_layers())
    tell(f"`{gone}` is part of `{kept}` now: {changed.path}", hint=f"`kb show {kept}`: its own check and fix stayed, the other's are in the notes")

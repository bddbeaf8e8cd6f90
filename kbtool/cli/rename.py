"""`kb rename`: another id or another domain for an entry."""

from __future__ import annotations

from typing import Annotated

import typer

from kbtool.cli.app import command_app, complete_id

app = command_app()


@app.command()
def rename(
    old: Annotated[str, typer.Argument(metavar="ID", autocompletion=complete_id, help="The entry.")],
    new: Annotated[str | None, typer.Argument(metavar="[NEW]", help="Its new id; default: the same.")] = None,
    domain: Annotated[str | None, typer.Option("--domain", metavar="NAME", help="Its new domain.")] = None,
) -> None:
    """Rename an entry or move it to another domain: the file moves, not a byte of it changes, and its history follows.

    Example: kb rename oom cuda-out-of-memory --domain training
    """
    from kbtool.cli.render import tell
    from kbtool.errors import KbError
    from kbtool.knowledge.layers import find_layers
    from kbtool.review.changing import rename as move

    if new is None and domain is None:
        raise KbError("nothing to do: neither a new id nor a new domain was given", hint=f"`kb rename {old} NEW-ID`, or `--domain NAME`")
    changed = move(old, new or old, find_layers(), domain=domain)
    tell(f"{old} is {changed.path} now", hint=f"a permission to run its check belonged to the old place: `kb allow {new or old}`")

"""`kb retire`: an entry that nobody needs any more leaves the answers, and stays in the base."""

from __future__ import annotations

from typing import Annotated

import typer

from kbtool.cli.app import command_app, complete_id

app = command_app()


@app.command()
def retire(
    ids: Annotated[list[str], typer.Argument(metavar="ID...", autocompletion=complete_id, help="Entries to retire.")],
    reason: Annotated[str, typer.Option("--reason", metavar="TEXT", help="Why; kept as a note in the entry.")] = "",
    undo: Annotated[bool, typer.Option("--undo", help="Bring them back.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON document.")] = False,
) -> None:
    """Take entries out of the answers: they are matched with `kb match --all` only. `--undo` brings them back.

    Example: kb retire old-driver-hangs --reason "nobody has that driver any more"
    """
    from kbtool.cli.render import print_json, tell
    from kbtool.knowledge.layers import find_layers
    from kbtool.knowledge.schema import today
    from kbtool.model import Status
    from kbtool.review.changing import set_status

    status = Status.ACTIVE if undo else Status.RETIRED
    day = today().isoformat()
    done = [(entry_id, set_status(entry_id, status, find_layers(), reason=reason, day=day)) for entry_id in ids]
    if as_json:
        print_json({"schema": 1, "changed": [{"id": entry_id, "status": status.value, "path": str(changed.path)} for entry_id, changed in done]})
        return
    for entry_id, changed in done:
        where = f"in your own copy: {changed.path}" if changed.copied else str(changed.path)
        tell(f"{entry_id} is {status.value}: {where}")

"""kb deny: forbid an entry's check to run on this machine, whatever it will say."""

from __future__ import annotations

from typing import Annotated

import typer

from kbtool.cli.app import command_app, complete_id

app = command_app()


@app.command(epilog="Example: kb deny port-already-in-use")
def deny(
    ids: Annotated[list[str], typer.Argument(metavar="[N or ID]...", autocompletion=complete_id, help="Entries, or numbers of the last match.")],
    undo: Annotated[bool, typer.Option("--undo", help="Lift the denial; the check then asks again.")] = False,
) -> None:
    """Forbid checks to run here. A denial wins over every permission and survives any edit of the entry."""
    from kbtool.cli.render import tell
    from kbtool.knowledge.layers import find_layers, locate
    from kbtool.verification.consent import Consent
    from kbtool.verification.targets import resolve_ids

    bases = find_layers()
    consent = Consent()
    for entry_id in resolve_ids(ids, bases):
        _, file = locate(entry_id, bases)
        if undo:
            lifted = consent.undo_denial(file.path)
            tell(f"`{entry_id}` may be asked for again" if lifted else f"`{entry_id}` was not denied")
        else:
            consent.deny(entry_id, file.path)
            tell(f"`{entry_id}` will not run on this machine", hint=f"`kb deny --undo {entry_id}` lifts that")

"""kb allow: permit an entry's check to run on this machine."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from kbtool.cli.app import command_app, complete_id

if TYPE_CHECKING:
    from kbtool.verification.consent import Consent

app = command_app()


@app.command(epilog='Example: kb allow loader-shared-memory-too-small --via "docker exec trainer"')
def allow(
    ids: Annotated[list[str] | None, typer.Argument(metavar="[N or ID]...", autocompletion=complete_id, help="Entries, or numbers of the last match; none lists what was decided.")] = None,
    via: Annotated[str, typer.Option("--via", metavar="PREFIX", help="Permit the check behind this prefix; each prefix is its own permission.")] = "",
    as_json: Annotated[bool, typer.Option("--json", help="Print the permissions as JSON.")] = False,
) -> None:
    """Permit checks to run here, as they are now: any change to the command, its confirms, needs or timeout asks again."""
    from kbtool.verification.consent import Consent

    consent = Consent()
    if ids:
        _allow(ids, via, consent)
    if as_json or not ids:
        _list(consent, as_json)


def _allow(ids: list[str], via: str, consent: Consent) -> None:
    from kbtool.cli.asking import show_request
    from kbtool.cli.render import tell
    from kbtool.errors import KbError
    from kbtool.knowledge.layers import find_layers
    from kbtool.verification.run import request_for
    from kbtool.verification.targets import find_targets

    for target in find_targets(ids, find_layers()):
        request = request_for(target.entry, via=via)
        if request is None:
            raise KbError(f"`{target.entry.id}` has no check to allow", hint=f"`kb edit {target.entry.id}` can give it one")
        show_request(request)
        path = consent.allow(request)
        tell(f"allowed on this machine; remembered in {path}")


def _list(consent: Consent, as_json: bool) -> None:
    from kbtool.cli.render import print_json, safe_line

    recorded = consent.recorded()
    if as_json:
        print_json(recorded)
        return
    for item in recorded:
        what = item.get("check", {}).get("command", "whatever its check is") if "allowed" in item else "whatever its check is"
        word = "allowed" if "allowed" in item else "denied"
        typer.echo(safe_line(f"{word}  {item.get(word)}  {item.get('id')}  {what}"))

"""`kb show`: one entry, its history and whether it may run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from kbtool.cli.app import command_app, complete_id

if TYPE_CHECKING:
    from kbtool.model import Entry, Outcome

app = command_app()

MARKS = {"confirmed": ("●", "green"), "refuted": ("○", "red"), "inconclusive": ("·", "yellow")}
"""How a verdict is drawn in the history, and its colour."""

HISTORY_WIDTH = 60
ROWS_SHOWN = 8


@app.command()
def show(
    entry_id: Annotated[str, typer.Argument(metavar="N or ID", autocompletion=complete_id, help="An id (`kb list` shows them), or a number of the last match.")],
    raw: Annotated[bool, typer.Option("--raw", help="Print the file as it is.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the entry as JSON.")] = False,
) -> None:
    """Show an entry: symptom, cause, check, fix, and what its check said before. Exit 1 when there is no such entry.

    Example: kb show loader-shared-memory-too-small
    """
    from kbtool.cli.render import print_json, safe
    from kbtool.errors import ExitStatus, KbError
    from kbtool.knowledge.entry import read_entry
    from kbtool.knowledge.layers import find_layers, locate
    from kbtool.verification.targets import resolve_ids

    try:
        bases = find_layers()
        base, file = locate(resolve_ids([entry_id], bases)[0], bases)
    except KbError as error:
        error.status = ExitStatus.NEGATIVE
        raise
    if raw:
        typer.echo(safe(file.path.read_text(encoding="utf-8", errors="replace")), nl=False)
        return
    entry = read_entry(file.path, file.domain)
    if as_json:
        print_json(_as_json(entry, base.kind))
    else:
        _print(entry, base.kind)


def _as_json(entry: Entry, layer: str) -> dict[str, Any]:
    value = entry._asdict()
    value.update(path=str(entry.path), layer=layer, status=entry.status.value, outcomes=[outcome._asdict() for outcome in entry.outcomes])
    if entry.check:
        value["check"] = {**entry.check._asdict(), "digest": entry.check.digest}
    return value


def _print(entry: Entry, layer: str) -> None:
    from kbtool.cli.answers import next_check
    from kbtool.cli.render import safe, safe_line, styled

    state = "" if entry.status.value == "active" else f" · {entry.status.value}"
    typer.echo(styled(safe_line(entry.title), "bold"))
    typer.echo(styled(safe_line(f"{entry.id} · {entry.domain}{state} · {layer} · {entry.path}"), "dim"))
    for number, symptom in enumerate(entry.symptoms):
        _section("Symptom" if number == 0 else "or", safe(symptom))
    _section("Root cause", safe(entry.root_cause))
    if entry.check:
        reading = f"\n(confirmed if: {safe_line(entry.check.confirms)})" if entry.check.confirms else "\n(a person judges the result)"
        _section("Check", safe_line(entry.check.command) + reading)
    if entry.fix:
        _section("Fix", safe(entry.fix))
    _print_history(entry)
    if entry.check:
        typer.echo(f"\nnext: {next_check(entry.id, entry.check.confirms)}")


def _section(name: str, text: str) -> None:
    from kbtool.cli.render import styled

    typer.echo(f"\n{styled(name, 'bold')}")
    for line in text.splitlines():
        typer.echo(f"  {line}" if line else "")


def _print_history(entry: Entry) -> None:
    from kbtool.cli.render import safe_line, styled
    from kbtool.knowledge.outcomes import format_seconds

    if not entry.outcomes:
        return
    drawn = "".join(styled(*MARKS[outcome.verdict.value]) for outcome in entry.outcomes[-HISTORY_WIDTH:])
    legend = " ".join(f"{mark} {name}" for name, (mark, _) in MARKS.items())
    typer.echo(f"\n{styled('History', 'bold')}  {drawn}   ({legend})")
    for outcome in entry.outcomes[-ROWS_SHOWN:]:
        stale = " · the check changed since" if _is_stale(entry, outcome) else ""
        count = f" ×{outcome.count}" if outcome.count > 1 else ""
        cells = (outcome.when, outcome.verdict.value + count, format_seconds(outcome.seconds), outcome.environment, outcome.note)
        typer.echo("  " + safe_line(" · ".join(cell for cell in cells if cell) + stale))
    if len(entry.outcomes) > ROWS_SHOWN:
        typer.echo(f"  … and {len(entry.outcomes) - ROWS_SHOWN} earlier")


def _is_stale(entry: Entry, outcome: Outcome) -> bool:
    return entry.check is None or outcome.check != entry.check.digest

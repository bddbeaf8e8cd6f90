"""`kb review`: once a month, what to retire, repair, unite and write up."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kbtool.cli.app import command_app

if TYPE_CHECKING:
    import datetime

    from kbtool.review.findings import Finding
    from kbtool.review.review import Review

app = command_app()

KEYS = {"add": "a", "edit": "e", "retire": "r", "merge": "m", "verify": "v", "fold": "f", "guard": "g"}
"""The key of each action."""


@app.command()
def review(
    report: Annotated[bool, typer.Option("--report", help="A report in Markdown instead of questions.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="The findings as JSON.")] = False,
    check: Annotated[bool, typer.Option("--check", help="Exit 1 when something is due: for a scheduled job.")] = False,
    kind: Annotated[str | None, typer.Option("--only", metavar="KIND", help="Only findings of one kind, e.g. `missing`.")] = None,
) -> None:
    """Look over the base: missing, misleading, broken, duplicate, stale, common, unproven entries, long tables; most valuable first.

    On a terminal, one key decides each finding; what is put off rests until next month. Example: kb review --report > review.md
    """
    from dataclasses import replace

    from kbtool.cli.asking import at_terminal
    from kbtool.errors import ExitStatus, KbError
    from kbtool.journal.journal import open_journal
    from kbtool.knowledge.layers import find_layers
    from kbtool.knowledge.schema import today
    from kbtool.matching.index import open_index
    from kbtool.review.findings import KINDS
    from kbtool.review.review import hold_review

    day = today()
    if kind is not None and kind not in {each.name for each in KINDS}:
        raise KbError(f"no kind of finding is called `{kind}`", hint=f"one of {', '.join(each.name for each in KINDS)}")
    index = open_index(find_layers())
    with open_journal() as journal:
        held = hold_review(index, journal, day, torch=_torch_here())
    index.close()
    if kind is not None:
        held = replace(held, findings=tuple(finding for finding in held.findings if finding.kind == kind))
    if as_json:
        _print_json(held)
    elif report:
        _print_report(held)
    elif check or not (at_terminal() and sys.stdout.isatty()):
        _print_list(held)
    else:
        _decide_each(held, day)
    raise typer.Exit(ExitStatus.NEGATIVE if check and held.findings else ExitStatus.OK)


def _torch_here() -> str | None:
    """The version of torch that was last seen on this machine, as far as the cached fingerprint knows."""
    from kbtool.verification.environment import remembered_fingerprint

    here = remembered_fingerprint()
    version = here.fact("torch", "version") if here else None
    return version if isinstance(version, str) else None


def _print_report(held: Review) -> None:
    from kbtool.cli.render import safe
    from kbtool.review.report import as_markdown

    sys.stdout.write(safe(as_markdown(held)))


def _print_json(held: Review) -> None:
    from kbtool.cli.render import print_json
    from kbtool.review.findings import KINDS

    print_json(
        {
            "schema": 1,
            "day": held.day.isoformat(),
            "entries": len(held.seen.standings),
            "due": len(held.findings),
            "resting": held.resting,
            "kinds": {kind.name: sum(finding.kind == kind.name for finding in held.findings) for kind in KINDS},
            "findings": [_finding_json(finding) for finding in held.findings],
        }
    )


def _finding_json(finding: Finding) -> dict[str, Any]:
    return {
        "kind": finding.kind,
        "id": finding.id,
        "title": finding.title,
        "reason": finding.reason,
        "actions": list(finding.actions),
        "other": finding.other,
        "count": finding.count,
        "excerpt": finding.excerpt or None,
    }


def _print_list(held: Review) -> None:
    from kbtool.cli.render import safe_line, styled, tell
    from kbtool.review.findings import KINDS
    from kbtool.review.review import shown

    for kind in KINDS:
        found, more = shown(held.findings, kind.name)
        if found:
            typer.echo(styled(f"{kind.heading}: {kind.meaning}", "bold"))
        for finding in found:
            typer.echo(f"  {safe_line(finding.id)}: {safe_line(finding.reason)} → {' or '.join(finding.actions)}")
        if more:
            typer.echo(f"  and {more} more")
    _tell_sum(held)
    if held.findings:
        tell("hint: `kb review` at a terminal decides one by one, `--report` writes a page")


def _tell_sum(held: Review) -> None:
    from kbtool.cli.render import tell
    from kbtool.quantities import plural
    from kbtool.review.report import due

    tell(f"{plural(len(held.seen.standings), 'entry', 'entries')} looked over: {due(held)}")


def _decide_each(held: Review, today: datetime.date) -> None:
    """One finding after the other; whatever was decided stays decided when the person leaves."""
    from kbtool.cli.render import tell

    _tell_sum(held)
    for place, finding in enumerate(held.findings, 1):
        _show(finding, place, len(held.findings))
        key = _ask(finding)
        if key == "q":
            tell("the rest waits: `kb review` goes on here")
            return
        _carry_out(finding, key, today)
    tell("done for this month")


def _show(finding: Finding, place: int, count: int) -> None:
    from kbtool.cli.render import safe, safe_line, styled
    from kbtool.review.findings import KINDS

    heading = next(kind.heading for kind in KINDS if kind.name == finding.kind)
    typer.echo(f"\n{place}/{count}  {styled(heading, 'bold')}  {safe_line(finding.id)}")
    if finding.title != finding.id:
        typer.echo(f"  {safe_line(finding.title)}")
    typer.echo(f"  {safe_line(finding.reason)}")
    for line in finding.excerpt.split("\n")[:6] if finding.excerpt else []:
        typer.echo(f"  | {safe(line)}")


def _ask(finding: Finding) -> str:
    from kbtool.cli.prompting import ask_key

    choices = {KEYS[action]: action for action in finding.actions} | {"k": "keep as it is", "q": "quit"}
    told = " · ".join(f"{key}: {action}" for key, action in choices.items())
    return ask_key(f"  [{told} · Enter: later] ", "".join(choices), default="l")


def _carry_out(finding: Finding, key: str, today: datetime.date) -> None:
    """Do what was decided; what fails is told and stays due."""
    from kbtool.cli.render import tell
    from kbtool.errors import KbError
    from kbtool.journal.journal import open_journal
    from kbtool.review.review import decide

    try:
        if key in "lk":
            with open_journal() as journal:
                decide(journal, finding, "later" if key == "l" else "keep", today)
        else:
            _act(finding, key, today)
    except KbError as error:
        tell(f"kb: {error.message}", hint=error.hint)


def _act(finding: Finding, key: str, today: datetime.date) -> None:
    from kbtool.cli.render import tell
    from kbtool.knowledge.layers import find_layers
    from kbtool.model import Status
    from kbtool.quantities import plural
    from kbtool.review import changing

    if key == "r":
        changed = changing.set_status(finding.id, Status.RETIRED, find_layers(), reason=finding.reason, day=today.isoformat())
        tell(f"  retired: {changed.path}")
    elif key == "f":
        tell(f"  {plural(changing.fold(finding.id, find_layers()).rows, 'row')} folded")
    elif key == "m" and finding.other:
        tell(f"  merged: {changing.merge(finding.id, finding.other, find_layers()).path}")
    elif key == "v":
        _run_kb("verify", finding.id)
    elif key == "a":
        _run_kb("add", "--symptom", finding.excerpt)
    else:
        if key == "g":
            tell("  write a `## Guard` section: the word `verify`, or a yaml fence with a rule and a bad and a good example")
        _run_kb("edit", finding.id)


def _run_kb(*arguments: str) -> None:
    """Another command of kb, at this terminal."""
    import subprocess

    subprocess.run([sys.executable, "-m", "kbtool", *arguments], check=False)

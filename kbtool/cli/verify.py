"""kb verify: run the check of what was matched, on this machine, and let the entry remember the outcome."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from kbtool.cli.app import command_app, complete_id
from kbtool.errors import ExitStatus

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kbtool.knowledge.layers import Base
    from kbtool.verification.record import Recorded
    from kbtool.verification.run import CheckResult
    from kbtool.verification.several import Attempt, Plan
    from kbtool.verification.shell import RunContext
    from kbtool.verification.targets import Target

app = command_app()

COLOURS = {"confirmed": "green", "refuted": "yellow", "inconclusive": "dim"}


@app.command(epilog='Example: kb verify loader-shared-memory-too-small --via "docker exec trainer"')
def verify(
    what: Annotated[list[str] | None, typer.Argument(metavar="[N or ID]...", autocompletion=complete_id, help="Ids, or numbers of the last match; default: its best candidate.")] = None,
    all_matched: Annotated[bool, typer.Option("--all-matched", help="Every candidate of the last match.")] = False,
    via: Annotated[str, typer.Option("--via", metavar="PREFIX", help='Run the check behind this prefix, e.g. "docker exec trainer" or "ssh node7".')] = "",
    values: Annotated[list[str] | None, typer.Option("--with", metavar="NAME=VALUE", help="A literal value for a Python check.")] = None,
    repeat: Annotated[int, typer.Option("--repeat", metavar="N", min=1, max=1000, help="Run each check N times; one confirmation is enough.")] = 1,
    scratch: Annotated[bool, typer.Option("--scratch", help="Run in an empty temporary folder.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would run, with which python and permission; run nothing.")] = False,
    pending: Annotated[bool, typer.Option("--pending", help="Write outcomes that could not be written when they were found.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the results as a JSON list.")] = False,
) -> int:
    """Run checks here and record the outcomes. Exit: 0 confirmed, 1 refuted, 2 error or not allowed, 3 inconclusive."""
    from kbtool.knowledge.layers import find_layers
    from kbtool.verification.several import Plan, exit_status
    from kbtool.verification.shell import surroundings_of
    from kbtool.verification.targets import find_targets, given_values, last_match

    bases = find_layers()
    if pending:
        return _record_pending(bases)
    targets = find_targets(what or [], bases, all_matched=all_matched)
    matched = last_match(bases)
    surroundings = surroundings_of(_context(targets), via=via, scratch=scratch)
    plan = Plan(targets, surroundings, given_values(values or []), repeat, matched.excerpt if matched else "")
    if dry_run:
        return _show_plan(plan, as_json)
    if not what:
        _name_targets(targets)
    attempts = _attempt(plan, bases)
    _print(attempts, as_json)
    if matched is not None and not as_json:
        _tell_next(attempts, matched.entries)
    return int(exit_status(attempts))


def _context(targets: Sequence[Target]) -> RunContext | None:
    """The surroundings of the job that `kb run` saw fail, when its last match is what is checked."""
    from kbtool.cli.render import tell
    from kbtool.verification.joblink import run_context

    matches = {target.match_id for target in targets}
    context = run_context(matches.pop()) if len(matches) == 1 else None
    if context is not None:
        tell(f"in the surroundings of the job: {context.folder}" + (f", {context.python}" if context.python else ""))
    return context


def _name_targets(targets: Sequence[Target]) -> None:
    from kbtool.cli.render import tell

    tell("checking " + ", ".join(f"`{target.entry.id}`" for target in targets) + " of the last match")


def _attempt(plan: Plan, bases: list[Base]) -> list[Attempt]:
    """Ask where something is not allowed yet, run, let a person judge what only a person can, record."""
    from kbtool.cli.asking import ask_consent
    from kbtool.verification.consent import Consent
    from kbtool.verification.several import record_all, run_all

    consent = Consent()
    ask_consent(plan.requests(), consent)
    attempts = [_judged(attempt) for attempt in run_all(plan, consent)]
    return record_all(attempts, bases)


def _judged(attempt: Attempt) -> Attempt:
    """Where the entry has no `confirms` and a person is there, the person looks at the output and says."""
    import sys
    from dataclasses import replace

    from kbtool.cli.asking import at_terminal
    from kbtool.cli.render import safe
    from kbtool.model import Verdict

    result = attempt.result
    if result is None or not result.needs_person or not at_terminal():
        return attempt
    sys.stderr.write(safe(result.stdout + result.stderr))
    sys.stderr.write(f"\nDoes this show that `{attempt.target.entry.id}` is the cause? [y/n/?] ")
    sys.stderr.flush()
    answers = {"y": Verdict.CONFIRMED, "n": Verdict.REFUTED}
    answer = answers.get(sys.stdin.readline().strip().lower()[:1])
    return replace(attempt, result=result.judged(answer)) if answer else attempt


def _print(attempts: Sequence[Attempt], as_json: bool) -> None:
    from kbtool.cli.render import print_json, safe_line, tell, wrapped

    for attempt in attempts:
        if attempt.problem:
            tell(f"kb: {attempt.problem}", hint=attempt.hint)
    if as_json:
        print_json([_as_json(attempt) for attempt in attempts])
        return
    for attempt in attempts:
        if attempt.result is None:
            continue
        _print_result(attempt.result)
        if attempt.recorded:
            _tell_recorded(attempt.recorded, attempt.result)
        if attempt.result.verdict.value == "confirmed" and attempt.target.entry.fix:
            fix = wrapped(safe_line(" ".join(attempt.target.entry.fix.split())), 7)
            typer.echo("  fix: " + "\n       ".join(fix))
    for warning in dict.fromkeys(warning for attempt in attempts for warning in attempt.warnings):
        tell(f"note: {safe_line(warning)}")


def _tell_next(attempts: Sequence[Attempt], candidates: Sequence[str]) -> None:
    """After a refuted candidate of the last match, the one that comes after it."""
    from kbtool.cli.render import tell

    if len(attempts) != 1 or attempts[0].result is None or attempts[0].result.verdict.value != "refuted":
        return
    entry_id = attempts[0].target.entry.id
    place = candidates.index(entry_id) + 2 if entry_id in candidates else 0
    if 0 < place <= len(candidates):
        tell(f"next: kb verify {place}   ({candidates[place - 1]})")
    elif place:
        tell("next: kb triage   (it was the last candidate)")


def _print_result(result: CheckResult) -> None:
    from kbtool.cli.render import safe_line, styled
    from kbtool.knowledge.outcomes import format_seconds

    verdict = styled(result.verdict.value, "bold", COLOURS[result.verdict.value])
    took = f"  ({format_seconds(result.seconds)})" if result.seconds is not None else ""
    typer.echo(f"{safe_line(result.id)}  {verdict}  {safe_line(result.reason)}{took}")


def _tell_recorded(recorded: Recorded, result: CheckResult) -> None:
    from kbtool.cli.render import tell

    if recorded.copied_to:
        tell(f"  recorded in your own copy: {recorded.copied_to}")
    elif recorded.in_entry:
        tell(f"  recorded in {recorded.path}")
    elif not result.ran:
        tell("  nothing recorded: the check did not run")


def _as_json(attempt: Attempt) -> dict[str, Any]:
    result = attempt.result
    return {
        "id": attempt.target.entry.id,
        "verdict": result.verdict.value if result else None,
        "reason": result.reason if result else attempt.problem,
        "exit_code": result.exit_code if result else None,
        "seconds": round(result.seconds, 6) if result and result.seconds is not None else None,
        "recorded": bool(attempt.recorded and attempt.recorded.in_entry),
    }


def _show_plan(plan: Plan, as_json: bool) -> int:
    from kbtool.cli.render import print_json, safe_line

    rows = plan.describe()
    if as_json:
        print_json(rows)
        return ExitStatus.OK
    for row in rows:
        typer.echo(safe_line(row["id"]))
        for key, value in row.items():
            if key != "id":
                typer.echo(f"  {key + ':':<12} {safe_line(', '.join(value) if isinstance(value, list) else str(value))}")
    return ExitStatus.OK


def _record_pending(bases: list[Base]) -> int:
    from kbtool.cli.render import tell
    from kbtool.verification.record import record_pending

    done = record_pending(bases)
    for verdict, recorded in done:
        tell(f"{verdict.entry}  {verdict.verdict.value}  {verdict.at}  " + (f"recorded in {recorded.path}" if recorded.in_entry else str(recorded.problem)))
    if not done:
        tell("no outcome waits to be written")
    return ExitStatus.OK if all(recorded.in_entry for _, recorded in done) else ExitStatus.ERROR

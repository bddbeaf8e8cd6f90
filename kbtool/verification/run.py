"""Running one entry's check: permission, then needs, then the process or the expression, then the verdict.

The check that runs is the one in memory, read once from the entry's bytes: what was shown and allowed is what runs, whatever happens
to the file meanwhile.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from kbtool.errors import NotAllowedError
from kbtool.knowledge.redaction import redact
from kbtool.model import Check, Entry, Verdict
from kbtool.verification import files, needs
from kbtool.verification.commandline import missing_commands
from kbtool.verification.consent import Consent, Permission, Request
from kbtool.verification.environment import FRESH_SECONDS, Fingerprint, fingerprint
from kbtool.verification.expressions import evaluate, free_names
from kbtool.verification.permitted import ExpressionError
from kbtool.verification.process import Finished, run_command
from kbtool.verification.shell import Surroundings, shell_program, surroundings_of, with_python, with_steady_messages, working_folder
from kbtool.verification.verdict import Judgement, inconclusive, judge, judge_value


@dataclass(frozen=True)
class CheckResult:
    """What a check said. `seconds` is the check's own time; `check` the digest of what ran.

    `needs_person` asks for a judgement; `ran` is False where what the check needs is not here, so that there is no outcome to record.
    """

    id: str
    verdict: Verdict
    reason: str
    exit_code: int | None
    seconds: float | None
    stdout: str
    stderr: str
    check: str
    environment: Fingerprint
    needs_person: bool = False
    ran: bool = True

    def judged(self, verdict: Verdict, by: str = "a person") -> CheckResult:
        """The same result after somebody looked at its output."""
        return replace(self, verdict=verdict, reason=f"judged by {by}: {self.reason}", needs_person=False)


def request_for(entry: Entry, *, via: str = "") -> Request | None:
    """What consent is asked for; None where the entry has no check."""
    return Request(entry.id, entry.path, entry.check, via) if entry.check else None


def verify(
    entry: Entry,
    *,
    surroundings: Surroundings | None = None,
    consent: Consent | None = None,
    values: Mapping[str, Any] | None = None,
    here: Fingerprint | None = None,
) -> CheckResult:
    """Run the check of `entry` and give its verdict; nothing is recorded.

    `values` are what a `python` check is evaluated over. `here` spares asking for the fingerprint when the caller has it.

    Raises NotAllowedError without consent, before anything else is looked at.
    """
    surroundings = surroundings or surroundings_of()
    if entry.check is None:
        here = here or fingerprint(surroundings, max_age=FRESH_SECONDS)
        return CheckResult(entry.id, Verdict.INCONCLUSIVE, "the entry has no check", None, None, "", "", "none", here)
    require_consent(Request(entry.id, entry.path, entry.check, surroundings.via), consent or Consent())
    here = here or fingerprint(surroundings, wanted=needs.wanted(entry.check.needs), max_age=FRESH_SECONDS)
    return _result(entry, entry.check, surroundings, here, values)


def require_consent(request: Request, consent: Consent) -> None:
    """Raise NotAllowedError unless `request` may run here."""
    permission = consent.permission(request)
    if permission is Permission.DENIED:
        raise NotAllowedError(f"the check of `{request.id}` is denied on this machine", hint=f"`kb deny --undo {request.id}` lifts that")
    if permission is not Permission.ALLOWED:
        via = f' --via "{request.via}"' if request.via else ""
        raise NotAllowedError(
            f"the check of `{request.id}` is not allowed to run yet: {request.check.command}", hint=f"read it, then `kb allow {request.id}{via}`"
        )


def _result(entry: Entry, check: Check, surroundings: Surroundings, here: Fingerprint, values: Mapping[str, Any] | None) -> CheckResult:
    unmet = needs.unmet(check.needs, here)
    started = time.monotonic()
    finished: Finished | None = None
    if unmet:
        judgement = inconclusive(f"needs not met: {', '.join(unmet)}", ran=False)
    elif check.language == "python":
        judgement = evaluate_check(entry.id, check, values)
        finished = Finished("exit", None, None, time.monotonic() - started, "", "")
    else:
        finished, judgement = _run(check, surroundings)
    return CheckResult(
        id=entry.id,
        verdict=judgement.verdict,
        reason=redact(judgement.reason).text,
        exit_code=finished.exit_code if finished else None,
        seconds=finished.seconds if finished else None,
        stdout=finished.stdout if finished else "",
        stderr=finished.stderr if finished else "",
        check=check.digest,
        environment=here,
        needs_person=judgement.needs_person,
        ran=judgement.ran,
    )


def _run(check: Check, surroundings: Surroundings) -> tuple[Finished | None, Judgement]:
    program = shell_program(check.command, surroundings.via)
    if program is None:
        return None, inconclusive("there is no POSIX shell (`sh`) on this machine", ran=False)
    with with_python(surroundings.environment) as environment, working_folder(surroundings) as folder:
        try:
            absent = files.absent(check.needs, environment, folder=folder, via=surroundings.via)
            if absent:
                return None, inconclusive(files.where(absent, surroundings.via or folder or os.getcwd()), ran=False)
            finished = run_command(program, environment=with_steady_messages(environment), timeout=check.timeout, folder=folder)
        except OSError as error:
            return None, inconclusive(f"the check could not be started: {error.strerror or error}", ran=False)
        missing = [] if surroundings.via else missing_commands(check.command, environment, folder)
    return finished, judge(check, finished, missing=missing, via=surroundings.via)


def evaluate_check(entry_id: str, check: Check, values: Mapping[str, Any] | None) -> Judgement:
    """The verdict on a `python` check over `values`; what goes wrong while it is evaluated is inconclusive."""
    try:
        wanted = free_names(check.command)
        absent = sorted(wanted - set(values or {}))
        if absent:
            return inconclusive(_how_to_give(entry_id, absent), ran=False)
        return judge_value(check, evaluate(check.command, values or {}))
    except ExpressionError as error:
        return inconclusive(str(error))


def _how_to_give(entry_id: str, names: list[str]) -> str:
    given = ", ".join(f"{name}=…" for name in names)
    return (
        f"values not at hand: {', '.join(names)}; `kb run --post-mortem -- python …` evaluates the check where the program fails,"
        f" `kbtool.check({entry_id!r}, {given})` inside of it"
    )


def repeat(once: Callable[[], CheckResult], times: int) -> tuple[CheckResult, list[CheckResult]]:
    """Run a check `times` times: the result that stands for all, and each of them.

    One confirmation is enough: a fault that shows only sometimes is still there. Refuted needs every run to say so.
    """
    results = [once() for _ in range(max(1, times))]
    if len(results) == 1:
        return results[0], results
    count = {verdict: sum(result.verdict is verdict for result in results) for verdict in Verdict}
    for verdict in (Verdict.CONFIRMED, Verdict.INCONCLUSIVE, Verdict.REFUTED):
        if count[verdict]:
            chosen = next(result for result in results if result.verdict is verdict)
            return replace(chosen, reason=f"{count[verdict]} of {len(results)} runs: {chosen.reason}"), results
    return results[0], results

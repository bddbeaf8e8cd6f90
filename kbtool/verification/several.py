"""Several checks at once: cheap ones first, side by side where they do not use an accelerator, one exit status for all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import Any

from kbtool.errors import ExitStatus, KbError
from kbtool.knowledge.checks import parse_need
from kbtool.knowledge.layers import Base
from kbtool.model import Check, Verdict
from kbtool.verification import files, needs
from kbtool.verification.consent import Consent, Request
from kbtool.verification.environment import FRESH_SECONDS, Fingerprint, fingerprint, foreign_packages
from kbtool.verification.process import end_running
from kbtool.verification.record import Recorded, pending, record
from kbtool.verification.run import CheckResult, repeat, request_for, require_consent, verify
from kbtool.verification.shell import Surroundings, find_python, working_folder
from kbtool.verification.targets import Target

SIDE_BY_SIDE = 4
"""Checks that run at the same time."""

ACCELERATOR_NEEDS = frozenset({"cuda", "rocm", "mps", "npu", "gpus"})
"""Checks with one of these needs run one after the other: they would measure each other."""


@dataclass(frozen=True)
class Plan:
    """What is going to run, where, and how often."""

    targets: Sequence[Target]
    surroundings: Surroundings
    values: Mapping[str, Any] = field(default_factory=dict)
    times: int = 1
    excerpt: str = ""
    """Text of the failure that led here; its paths tell whether it comes from another environment."""

    def requests(self) -> list[Request]:
        """What consent is needed for."""
        found = (request_for(target.entry, via=self.surroundings.via) for target in self.targets)
        return [request for request in found if request is not None]

    def fingerprint(self) -> Fingerprint:
        """One fingerprint that answers the needs of all checks."""
        wanted = {need for target in self.targets if target.entry.check for need in needs.wanted(target.entry.check.needs)}
        return fingerprint(self.surroundings, wanted=wanted, max_age=FRESH_SECONDS)

    def describe(self) -> list[dict[str, Any]]:
        """What would run, for a person or a script that looks before it leaps; starts no check."""
        here = self.fingerprint()
        consent = Consent()
        return [_described(target, self.surroundings, here, consent) for target in self.targets]


def _described(target: Target, surroundings: Surroundings, here: Fingerprint, consent: Consent) -> dict[str, Any]:
    check, request = target.entry.check, request_for(target.entry, via=surroundings.via)
    if check is None or request is None:
        return {"id": target.entry.id, "command": None, "consent": "the entry has no check"}
    return {
        "id": target.entry.id,
        "language": check.language,
        "command": check.command,
        "via": surroundings.via or None,
        "confirms": check.confirms,
        "needs": list(check.needs),
        "unmet": [*needs.unmet(check.needs, here), *_absent_files(check, surroundings)],
        "timeout": check.timeout,
        "consent": consent.permission(request).value,
        "python": here.fact("python", "executable") or find_python(surroundings.environment),
        "environment": here.short(),
        "check": check.digest,
    }


def _absent_files(check: Check, surroundings: Surroundings) -> list[str]:
    with working_folder(surroundings) as folder:
        return files.absent(check.needs, surroundings.environment, folder=folder, via=surroundings.via)


@dataclass(frozen=True)
class Attempt:
    """One target and what became of it: a result, or the problem that kept it from running or being recorded."""

    target: Target
    result: CheckResult | None = None
    recorded: Recorded | None = None
    problem: str | None = None
    hint: str | None = None
    warnings: tuple[str, ...] = ()


def run_all(plan: Plan, consent: Consent) -> list[Attempt]:
    """Run every check that may run; the attempts come in the order of the targets. Nothing runs without consent."""
    runnable = [target for target in plan.targets if _is_permitted(target, plan, consent)]
    here = plan.fingerprint() if runnable else Fingerprint()
    alone = [target for target in runnable if target.entry.check and uses_accelerator(target.entry.check)]
    together = sorted((target for target in runnable if target not in alone), key=lambda target: cost(target.entry.check))
    done: dict[str, Attempt] = {}
    with ThreadPoolExecutor(SIDE_BY_SIDE) as pool:
        try:
            for attempt in pool.map(lambda target: _attempt(target, plan, consent, here), together):
                done[attempt.target.entry.id] = attempt
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            end_running()
            raise
    for target in [*alone, *(target for target in plan.targets if target not in runnable)]:
        done[target.entry.id] = _attempt(target, plan, consent, here)
    return [done[target.entry.id] for target in plan.targets]


def uses_accelerator(check: Check) -> bool:
    """True for a check that needs a GPU or the like."""
    return any(parse_need(need).kind in ACCELERATOR_NEEDS for need in check.needs)


def cost(check: Check | None) -> tuple[float, int]:
    """How dear a check may be, for "cheap ones first": its timeout, then whether it starts a Python of its own."""
    return (check.timeout, "python" in check.command) if check else (0.0, 0)


def _is_permitted(target: Target, plan: Plan, consent: Consent) -> bool:
    request = request_for(target.entry, via=plan.surroundings.via)
    try:
        if request is not None:
            require_consent(request, consent)
    except KbError:
        return False
    return True


def _attempt(target: Target, plan: Plan, consent: Consent, here: Fingerprint) -> Attempt:
    entry = target.entry
    try:
        result, _ = repeat(lambda: verify(entry, surroundings=plan.surroundings, consent=consent, values=plan.values, here=here), plan.times)
    except KbError as error:
        return Attempt(target, problem=error.message, hint=error.hint)
    return Attempt(target, result, warnings=(*needs.mismatches(entry.applies_to, here), *_elsewhere(target, plan, here)))


def _elsewhere(target: Target, plan: Plan, here: Fingerprint) -> list[str]:
    foreign = foreign_packages(plan.excerpt, here) if target.match_id is not None else None
    return [f"the traceback comes from {foreign}, and `python` here is {here.fact('python', 'executable')}"] if foreign else []


def record_all(attempts: Sequence[Attempt], bases: Sequence[Base]) -> list[Attempt]:
    """Record every result in its entry and in the journal; what could not be written is a problem of its attempt."""
    return [_recorded(attempt, bases) for attempt in attempts]


def _recorded(attempt: Attempt, bases: Sequence[Base]) -> Attempt:
    if attempt.result is None or attempt.target.entry.check is None:
        return attempt
    target = attempt.target
    kept = record(target.entry, target.base, attempt.result, bases=bases, match_id=target.match_id)
    if kept.in_entry:
        waiting = pending(bases, target.entry.id)
        notes = (_waiting(len(waiting), target.entry.id),) if waiting else ()
        return replace(attempt, recorded=kept, warnings=attempt.warnings + notes)
    if not attempt.result.ran:
        return replace(attempt, recorded=kept)
    hint = f"run `kb verify {target.entry.id}` again" if kept.refused else "the journal keeps the outcome; `kb verify --pending` writes it later"
    return replace(attempt, recorded=kept, problem=f"the outcome was not recorded: {kept.problem}", hint=hint)


def _waiting(count: int, entry_id: str) -> str:
    who = "1 earlier outcome" if count == 1 else f"{count} earlier outcomes"
    return f"{who} of `{entry_id}` could not be written at the time; `kb verify --pending` writes it now"


def exit_status(attempts: Sequence[Attempt]) -> ExitStatus:
    """One status for all: any error 2, else any confirmed 0, else any inconclusive 3, else 1.

    An outcome that could not be written leaves the verdict's own status; a check that changed while it ran is an error.
    """
    if any(attempt.result is None or (attempt.recorded is not None and attempt.recorded.refused) for attempt in attempts):
        return ExitStatus.ERROR
    verdicts = {attempt.result.verdict for attempt in attempts if attempt.result}
    if Verdict.CONFIRMED in verdicts:
        return ExitStatus.OK
    return ExitStatus.INCONCLUSIVE if Verdict.INCONCLUSIVE in verdicts else ExitStatus.NEGATIVE

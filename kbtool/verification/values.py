"""Checks over the values of a program: from inside it (`kbtool.check`), or after it failed, in the frames of its traceback."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import TracebackType
from typing import Any

from kbtool.errors import KbError
from kbtool.knowledge.layers import Base, find_layers
from kbtool.model import Check, Entry, Verdict
from kbtool.verification.consent import Consent, Request
from kbtool.verification.environment import FRESH_SECONDS, Fingerprint, fingerprint
from kbtool.verification.expressions import evaluate, free_names
from kbtool.verification.frames import Place, describe, innermost_with, places
from kbtool.verification.permitted import ExpressionError
from kbtool.verification.record import load, record
from kbtool.verification.run import CheckResult, evaluate_check, require_consent, verify
from kbtool.verification.shell import RunContext, surroundings_of

VALUES_SHOWN = 6


@dataclass(frozen=True)
class Look:
    """A check that was evaluated in a frame: the verdict, the frame, and the values in a few words."""

    entry: Entry
    verdict: Verdict
    reason: str
    place: Place | None = None
    values: tuple[tuple[str, str], ...] = ()
    ran: bool = True
    """False when no frame had the values."""


class CheckFailedError(AssertionError):
    """`kbtool.check` found the fault that an entry describes; the text names the entry, the values and the fix."""


def check(entry_id: str, *, raises: bool = False, **values: Any) -> CheckResult:
    """Evaluate the `python` check of the entry `entry_id` over the given values, in this very process, and record the outcome.

    For a notebook, a debugger or the line before the one that failed: ``kbtool.check("label-out-of-range", labels=y, num_classes=10)``.
    A shell check is run as `kb verify` runs it. With `raises` a confirmed fault raises CheckFailedError.

    Raises NotAllowedError where the check was not allowed on this machine, KbError for an unknown id.
    """
    bases = find_layers()
    base, entry = load(entry_id, bases)
    surroundings = surroundings_of(RunContext(python=sys.executable))
    result = verify(entry, surroundings=surroundings, values=values, here=_here())
    if entry.check is not None:
        record(entry, base, _with_values(result, values), bases=bases)
    if raises and result.verdict is Verdict.CONFIRMED:
        seen = ", ".join(f"{name}: {describe(value)}" for name, value in values.items())
        raise CheckFailedError(f"{entry.id}: {entry.title} ({seen}). {entry.fix}")
    return result


def _here() -> Fingerprint:
    """The environment of this very interpreter: its values are what is checked."""
    return fingerprint(surroundings_of(RunContext(python=sys.executable)), max_age=FRESH_SECONDS)


def _with_values(result: CheckResult, values: Mapping[str, Any]) -> CheckResult:
    seen = ", ".join(f"{name} {describe(value)}" for name, value in list(values.items())[:VALUES_SHOWN])
    return replace(result, reason=f"{result.reason}; {seen}" if seen and result.verdict is not Verdict.INCONCLUSIVE else result.reason)


def look(entry: Entry, traceback: TracebackType | None, *, mapping: Mapping[str, str] | None = None, consent: Consent | None = None) -> Look | None:
    """Evaluate the `python` check of `entry` in the innermost frame that defines all its names; None for any other check.

    `mapping` gives names of the expression as expressions over the frame (``labels`` as ``batch["y"]``).

    Raises NotAllowedError without consent, before any frame is looked at.
    """
    if entry.check is None or entry.check.language != "python":
        return None
    require_consent(Request(entry.id, entry.path, entry.check), consent or Consent())
    try:
        return _look(entry, entry.check, places(traceback), dict(mapping or {}))
    except ExpressionError as error:
        return Look(entry, Verdict.INCONCLUSIVE, str(error))


def _look(entry: Entry, check: Check, candidates: Sequence[Place], mapping: dict[str, str]) -> Look:
    names = free_names(check.command)
    wanted = set().union(*(free_names(mapping[name]) if name in mapping else {name} for name in names)) if names else set()
    place = innermost_with(wanted, candidates)
    if place is None:
        missing = ", ".join(sorted(wanted - set().union(*(set(one.values) for one in candidates)))) if candidates else ", ".join(sorted(wanted))
        reason = f"no frame of the traceback has all of {', '.join(sorted(wanted))}" + (f" (nowhere: {missing})" if missing else "")
        return Look(entry, Verdict.INCONCLUSIVE, f"{reason}; `--with NAME=EXPRESSION` maps a name", ran=False)
    values = {name: evaluate(mapping[name], place.values) if name in mapping else place.values[name] for name in names}
    judgement = evaluate_check(entry.id, check, values)
    seen = tuple((name, describe(value)) for name, value in sorted(values.items())[:VALUES_SHOWN])
    return Look(entry, judgement.verdict, judgement.reason, place, seen, judgement.ran)


def record_look(found: Look, bases: Sequence[Base], *, match_id: int | None = None) -> bool:
    """Keep what a look said, with the values in the note; True when the entry has it."""
    if found.entry.check is None:
        return False
    try:
        base, entry = load(found.entry.id, bases)
    except KbError:
        return False
    note = "; ".join([found.reason, *(f"{name} {value}" for name, value in found.values)])
    result = CheckResult(entry.id, found.verdict, note, None, None, "", "", found.entry.check.digest, _here(), ran=found.ran)
    return record(entry, base, result, bases=bases, match_id=match_id).in_entry

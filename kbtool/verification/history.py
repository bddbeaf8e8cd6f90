"""What an entry's outcomes say: its last confirmation, how that place differs from this one, and the history at a glance."""

from __future__ import annotations

from collections.abc import Sequence

from kbtool.model import Entry, Outcome, Verdict
from kbtool.verification.environment import Fingerprint

PARTS = ("system", "python", "torch", "accelerator")
"""The parts of the short fingerprint, in order."""

MARKS = {Verdict.CONFIRMED: "✓", Verdict.REFUTED: "✗", Verdict.INCONCLUSIVE: "?"}


def last_confirmed(entry: Entry) -> Outcome | None:
    """The newest confirmation of an entry."""
    return next((outcome for outcome in reversed(entry.outcomes) if outcome.verdict is Verdict.CONFIRMED), None)


def differences(then: str, here: Fingerprint) -> list[dict[str, str]]:
    """How the short fingerprint `then` of an outcome differs from `here`, part by part."""
    before, now = then.split(" · "), here.short().split(" · ")
    named = [(name, *pair) for name, pair in zip(PARTS, zip(before, now, strict=False), strict=False)]
    found = [{"what": name, "then": old, "here": new} for name, old, new in named if old != new]
    old_via, new_via = (" ".join(part for part in parts[len(PARTS) :]) or "no prefix" for parts in (before, now))
    return found + ([{"what": "place", "then": old_via, "here": new_via}] if old_via != new_via else [])


def strip(outcomes: Sequence[Outcome], check: str | None, *, width: int = 40) -> str:
    """The newest outcomes as one line of marks, oldest left; in brackets those of an older version of the check."""
    shown = [MARKS[outcome.verdict] if check in (None, outcome.check) else f"({MARKS[outcome.verdict]})" for outcome in outcomes[-width:]]
    return ("…" if len(outcomes) > width else "") + "".join(shown)


def history_lines(entry: Entry, *, limit: int = 10) -> list[str]:
    """An entry's outcomes for a person: the strip of marks, then the newest rows, when, what and where."""
    if not entry.outcomes:
        return ["never verified"]
    digest = entry.check.digest if entry.check else None
    lines = [strip(entry.outcomes, digest)]
    for outcome in reversed(entry.outcomes[-limit:]):
        count = f" ×{outcome.count}" if outcome.count > 1 else ""
        stale = "" if digest == outcome.check else "  (an older version of the check)"
        lines.append(f"{outcome.when}  {MARKS[outcome.verdict]} {outcome.verdict.value}{count}  {outcome.environment}  {outcome.note}{stale}")
    return lines

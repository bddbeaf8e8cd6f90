"""An entry's last confirmation, and how the place of it differs from this one."""

from __future__ import annotations

from kbtool.model import Entry, Outcome, Verdict
from kbtool.verification.environment import Fingerprint

PARTS = ("system", "python", "torch", "accelerator")
"""The parts of the short fingerprint, in order."""


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

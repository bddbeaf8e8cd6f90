"""Where an entry was last confirmed, held against this place: every fact that was recorded of it.

The entry's row has the short fingerprint only. All facts of the newest confirmation are in the journal of whoever confirmed it; for one
that came from elsewhere the parts of the short fingerprint are compared.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from kbtool.journal import history
from kbtool.journal.journal import open_journal
from kbtool.knowledge.redaction import redact
from kbtool.model import Entry, Outcome, Verdict
from kbtool.verification.environment import Fingerprint

PARTS = ("system", "python", "torch", "accelerator")
"""The parts of the short fingerprint, in order."""

MOVING = frozenset({"available", "free", "used_mib", "utilisation"})
"""Numbers that are another one every time; they differ only where one is more than `MUCH` times the other."""

MUCH = 1.5

NOT_COMPARED = ("wanted", "gpu_processes")
"""Facts that belong to a single check or to the moment."""


@dataclass(frozen=True)
class Difference:
    """One value that differs: the fact it belongs to, its name there ("" for the fact itself), and both values (None: not there)."""

    fact: str
    name: str
    then: Any
    here: Any

    @property
    def what(self) -> str:
        """Fact and name in one word: ``memory.total``."""
        return f"{self.fact}.{self.name}" if self.name else self.fact


@dataclass(frozen=True)
class Comparison:
    """What differs between a confirmation and this place, and of how many values. `complete` is False where only the short form is known."""

    then: Outcome
    differences: tuple[Difference, ...]
    compared: int
    complete: bool


def last_confirmed(entry: Entry) -> Outcome | None:
    """The newest confirmation of an entry."""
    return next((outcome for outcome in reversed(entry.outcomes) if outcome.verdict is Verdict.CONFIRMED), None)


def compare(entry: Entry, here: Fingerprint) -> Comparison | None:
    """This place against the one where `entry` was last confirmed; None for an entry that never was."""
    then = last_confirmed(entry)
    if then is None:
        return None
    facts = _remembered(entry, then)
    complete = facts is not None
    pairs = list(_short_pairs(then.environment, here) if facts is None else _pairs(facts, kept_facts(here) or {}))
    return Comparison(then, tuple(pair for pair in pairs if _differs(pair)), len(pairs), complete)


def kept_facts(here: Fingerprint) -> dict[str, Any] | None:
    """The facts of a fingerprint as they may be kept: redacted; None where there are none."""
    facts = {name: value for name, value in here.facts.items() if name not in NOT_COMPARED}
    try:
        kept = json.loads(redact(json.dumps(facts, indent=0, ensure_ascii=False)).text)
    except ValueError:
        return None
    return kept or None


def _remembered(entry: Entry, then: Outcome) -> dict[str, Any] | None:
    """The journal's facts of exactly this confirmation."""
    with open_journal() as journal:
        place = history.confirmed_place(journal, entry.id)
    if place is None or (place.at, place.environment) != (then.when, then.environment):
        return None
    return dict(json.loads(place.facts))


def _pairs(then: Mapping[str, Any], here: Mapping[str, Any]) -> Iterator[Difference]:
    for fact in dict.fromkeys((*then, *here)):
        before, now = _flat(then.get(fact)), _flat(here.get(fact))
        for name in dict.fromkeys((*before, *now)):
            yield Difference(fact, name, before.get(name), now.get(name))


def _flat(value: Any) -> dict[str, Any]:
    """A fact's values by name; those of a list of GPUs by number and name."""
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, list) and value and all(isinstance(item, Mapping) for item in value):
        return {f"{number} {name}": item for number, one in enumerate(value) for name, item in one.items()}
    return {} if value in (None, [], {}) else {"": value}


def _differs(pair: Difference) -> bool:
    numbers = [value for value in (pair.then, pair.here) if isinstance(value, (int, float))]
    if pair.name.split(" ")[-1] in MOVING and len(numbers) == 2:
        return max(numbers) > MUCH * max(min(numbers), 1)
    return bool(pair.then != pair.here)


def _short_pairs(then: str, here: Fingerprint) -> Iterator[Difference]:
    before, now = then.split(" · "), here.short().split(" · ")
    for name, old, new in zip(PARTS, before, now, strict=False):
        yield Difference(name, "", old, new)
    old_via, new_via = (" ".join(part for part in parts[len(PARTS) :]) or "no prefix" for parts in (before, now))
    yield Difference("place", "", old_via, new_via)

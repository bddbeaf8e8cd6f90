"""An entry on a card: what review, tree and stats need to know of it without opening its file.

The index keeps a card of every entry, so that a base of ten thousand is looked over in a moment.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from kbtool.model import Entry, Outcome, Verdict

SKETCH = 16
"""Smallest token hashes kept: two entries that share most of them share most of their words."""

UNMET = "needs not met"
"""How the reason of an outcome begins whose check could not run here."""


class Card(NamedTuple):
    """The parts of an entry that say how it stands, and its outcomes counted (of its present check, unless said otherwise)."""

    id: str
    domain: str
    title: str
    pattern: str
    status: str
    family: str | None
    tags: tuple[str, ...]
    applies_to: tuple[str, ...]
    needs: tuple[str, ...]
    created: str | None
    command: str
    guarded: bool
    confirmed: int
    refuted: int
    inconclusive: int
    unmet: int
    """Inconclusive outcomes whose needs were not met."""
    stale: int
    """Outcomes of earlier checks."""
    rows: int
    """Lines of the Outcomes table."""
    last_when: str | None
    last_environment: str | None
    months: dict[str, int]
    """Month to confirmed outcomes, earlier checks' too."""
    sketch: tuple[int, ...]


def card_of(entry: Entry, tokens: Iterable[str]) -> Card:
    """The card of an entry; `tokens` are those of its symptoms."""
    check = entry.check
    digest = check.digest if check and entry.outcomes else ""
    present = [outcome for outcome in entry.outcomes if outcome.check == digest]
    last = entry.outcomes[-1] if entry.outcomes else None
    return Card(
        id=entry.id,
        domain=entry.domain,
        title=entry.title,
        pattern=entry.pattern,
        status=entry.status.value,
        family=entry.family,
        tags=entry.tags,
        applies_to=entry.applies_to,
        needs=check.needs if check else (),
        created=entry.created,
        command=check.command if check else "",
        guarded=entry.guard is not None,
        confirmed=_count(present, Verdict.CONFIRMED),
        refuted=_count(present, Verdict.REFUTED),
        inconclusive=_count(present, Verdict.INCONCLUSIVE),
        unmet=sum([outcome.count for outcome in present if outcome.note.startswith(UNMET)]),
        stale=sum([outcome.count for outcome in entry.outcomes if outcome.check != digest]),
        rows=len(entry.outcomes),
        last_when=last.when if last else None,
        last_environment=last.environment if last else None,
        months=_months(entry.outcomes),
        sketch=sketch(tokens),
    )


def _count(outcomes: Sequence[Outcome], verdict: Verdict) -> int:
    return sum([outcome.count for outcome in outcomes if outcome.verdict is verdict])


def _months(outcomes: Iterable[Outcome]) -> dict[str, int]:
    months: dict[str, int] = {}
    for outcome in outcomes:
        if outcome.verdict is Verdict.CONFIRMED:
            months[outcome.when[:7]] = months.get(outcome.when[:7], 0) + outcome.count
    return months


def sketch(tokens: Iterable[str]) -> tuple[int, ...]:
    """The smallest hashes of the distinct tokens, sorted."""
    return tuple(sorted({zlib.crc32(token.encode("utf-8", "replace")) for token in tokens})[:SKETCH])


def likeness(one: tuple[int, ...], other: tuple[int, ...]) -> float:
    """Share of words that two sketches stand for in common, estimated: 1 for the same words, 0 for none in common."""
    size = min(SKETCH, len(set(one) | set(other)))
    union = set(sorted({*one, *other})[:size])
    return len(union & set(one) & set(other)) / size if size else 0.0


def to_json(card: Card) -> str:
    """A card as the index keeps it: its values in the order of the fields."""
    return _ENCODE(card)


_ENCODE = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
_TUPLES = tuple(name in ("tags", "applies_to", "needs", "sketch") for name in Card._fields)


def from_json(text: str) -> Card:
    """The card in a text that `to_json` made; raises ValueError or TypeError for another."""
    values: list[Any] = [tuple(value) if is_tuple else value for value, is_tuple in zip(json.loads(text), _TUPLES, strict=True)]
    return Card(*values)

"""What a monthly review brings up, and why: the rules as a table, each a question to how an entry stands.

Every finding names what it is about, the reason in numbers, and what kb can do about it. The thresholds are named here, nowhere else.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from kbtool.knowledge.card import SKETCH, Card, likeness
from kbtool.knowledge.problems import Problem
from kbtool.model import Status
from kbtool.review.survey import Standing, month_before

RECURRING = 2
"""Misses of one shape from which on an entry is missing."""
MISLEADING = 2
"""Refutations from which on an entry misleads, where they outnumber its confirmations."""
NEVER_MET = 3
"""Times that its check was asked for and its needs were never met: it can run nowhere it is tried."""
KNOWN_WELL = 10
"""Confirmations after which a fault is common knowledge."""
QUIET_MONTHS = 6
"""Months without an incident after which a well-known fault is retired."""
UNPROVEN_DAYS = 60
"""Age of an entry that was never confirmed."""
STALE_DAYS = 365
"""Age of the newest outcome after which the environment has moved on."""
LONG_TABLE = 100
"""Rows of an Outcomes table that is due to be folded."""
ROWS_KEPT = 50
"""Rows that folding leaves, at least."""
ALIKE = 0.75
"""Estimated share of common words from which on two entries are near duplicates."""
MOST_OF_A_KIND = 50
"""Findings of one kind that a review shows; the rest is counted."""


@dataclass(frozen=True)
class Finding:
    """One thing that is due. `actions` are the ways out, the proposed one first; `other` is a second entry it is about."""

    kind: str
    id: str
    title: str
    reason: str
    actions: tuple[str, ...]
    other: str | None = None
    excerpt: str = ""
    count: int = 1
    """How often: what findings of one kind are ordered by."""

    @property
    def key(self) -> str:
        """A name that is the same next month."""
        return f"{self.kind}:{self.id}" + (f":{self.other}" if self.other else "")


@dataclass(frozen=True)
class Kind:
    """A kind of finding: its heading, and why it matters."""

    name: str
    heading: str
    meaning: str


KINDS: tuple[Kind, ...] = (
    Kind("missing", "Missing", "failures that came again and found no answer: write them up"),
    Kind("misleading", "Misleading", "matched and refuted more often than confirmed: repair the symptom, or say what it is not"),
    Kind("broken", "Broken", "can not be read, or its check could never run where it was tried"),
    Kind("duplicate", "Near duplicates", "two entries of one fault: merge them, both histories are kept"),
    Kind("stale", "Stale", "its outcomes are of an earlier check or an earlier environment: verify again"),
    Kind("common", "Common knowledge", "confirmed so often that it should prevent itself (guard), or that nobody needs it any more (retire)"),
    Kind("unproven", "Unproven", "never confirmed since it was written: verify it, or let it go"),
    Kind("long", "Long outcome tables", "fold old rows into one row for each verdict"),
)
"""In the order of value."""


@dataclass(frozen=True)
class Today:
    """What the rules compare with: the day, and the environment of this machine as far as it is known."""

    day: datetime.date
    torch: str | None = None

    def days_since(self, when: str | None) -> int | None:
        """Days since a date or time as kb writes them; None where there is none or it is no date."""
        try:
            return (self.day - datetime.date.fromisoformat((when or "")[:10])).days
        except ValueError:
            return None


def entry_findings(standings: Iterable[Standing], today: Today) -> Iterator[Finding]:
    """What the rules say of each entry, save retired ones."""
    for standing in standings:
        if standing.card.status != Status.RETIRED.value:
            for rule in RULES:
                finding = rule(standing, today)
                if finding is not None:
                    yield finding


def _misleading(standing: Standing, today: Today) -> Finding | None:
    card = standing.card
    refuted = max(card.refuted, standing.refuted_here())
    confirmed = max(card.confirmed, sum(month.confirmed for month in standing.months.values()))
    if refuted < MISLEADING or refuted <= confirmed:
        return None
    return _about(card, "misleading", f"refuted {refuted}×, confirmed {confirmed}×", ("edit", "retire"), count=refuted)


def _never_met(standing: Standing, today: Today) -> Finding | None:
    card = standing.card
    unmet = max(card.unmet, standing.unmet)
    if unmet < NEVER_MET or card.confirmed or card.refuted or standing.refuted_here():
        return None
    return _about(card, "broken", f"needs never met: {', '.join(card.needs)} ({unmet}×)", ("edit", "retire"), count=unmet)


def _common(standing: Standing, today: Today) -> Finding | None:
    card = standing.card
    confirmed = max(card.confirmed, sum(card.months.values()), sum(month.confirmed for month in standing.months.values()))
    if confirmed < KNOWN_WELL:
        return None
    if (standing.last_seen or "") < month_before(today.day, QUIET_MONTHS):
        return _about(card, "common", f"confirmed {confirmed}×, {f'no incident since {standing.last_seen}' if standing.last_seen else 'no incident on record'}", ("retire",), count=confirmed)
    if not card.guarded:
        return _about(card, "common", f"confirmed {confirmed}× and still happening, without a guard", ("guard", "retire"), count=confirmed)
    return None


def _stale(standing: Standing, today: Today) -> Finding | None:
    card = standing.card
    if card.stale and not (card.confirmed or card.refuted or card.inconclusive):
        return _about(card, "stale", f"the check changed since it ran ({card.stale} older outcomes)", ("verify", "edit"), count=card.stale)
    age = today.days_since(card.last_when)
    if age is not None and age > STALE_DAYS:
        return _about(card, "stale", f"last verified {age} days ago", ("verify", "retire"), count=age // 30)
    return _moved_on(card, today)


def _moved_on(card: Card, today: Today) -> Finding | None:
    from kbtool.review.versions import outside

    if today.torch:
        left = [requirement for requirement in card.applies_to if outside(requirement, "torch", today.torch)]
        if left:
            return _about(card, "stale", f"applies to {', '.join(left)}; here is torch {today.torch}", ("verify", "edit", "retire"))
    return None


def _unproven(standing: Standing, today: Today) -> Finding | None:
    card = standing.card
    age = today.days_since(card.created)
    seen = card.confirmed or card.months or any(month.confirmed for month in standing.months.values())
    if seen or not card.command or age is None or age < UNPROVEN_DAYS:
        return None
    return _about(card, "unproven", f"{age} days old, never confirmed", ("verify", "retire"), count=standing.incidents() + 1)


def _long(standing: Standing, today: Today) -> Finding | None:
    card = standing.card
    return _about(card, "long", f"{card.rows} outcome rows", ("fold",), count=card.rows) if card.rows > LONG_TABLE else None


RULES: tuple[Callable[[Standing, Today], Finding | None], ...] = (_misleading, _never_met, _common, _stale, _unproven, _long)


def _about(card: Card, kind: str, reason: str, actions: tuple[str, ...], *, count: int = 1) -> Finding:
    return Finding(kind, card.id, card.title, reason, actions, count=count)


def broken_files(problems: Iterable[Problem]) -> list[Finding]:
    """Files that can not be read, one finding each."""
    found: dict[str, Finding] = {}
    for problem in problems:
        if problem.path.stem not in found:
            found[problem.path.stem] = Finding("broken", problem.path.stem, problem.path.name, f"{problem.path}:{problem.line}: {problem.message}", ("edit",))
    return list(found.values())


def near_duplicates(standings: Sequence[Standing]) -> list[Finding]:
    """Pairs of entries whose symptoms share most of their words. Only pairs with a rare hash in common are looked at.

    Two entries that ship with kb are no pair: nobody can merge them here.
    """
    looked_at = [standing for standing in standings if standing.card.status != Status.RETIRED.value and len(standing.card.sketch) >= SKETCH // 4]
    cards = [standing.card for standing in looked_at]
    holders: dict[int, list[int]] = {}
    for at, card in enumerate(cards):
        for value in card.sketch:
            holders.setdefault(value, []).append(at)
    pairs = {(one, other) for group in holders.values() if 1 < len(group) <= MOST_HOLDERS for k, one in enumerate(group) for other in group[k + 1 :]}
    own = [pair for pair in pairs if any(looked_at[at].base.kind != "shipped" for at in pair)]
    rated = sorted(((likeness(cards[one].sketch, cards[other].sketch), one, other) for one, other in own), reverse=True)
    return [_pair(cards[one], cards[other], like) for like, one, other in rated if like >= ALIKE]


MOST_HOLDERS = 12
"""Entries that may share a hash for it to count as rare: two of one fault share rare words too."""


def _pair(one: Card, other: Card, like: float) -> Finding:
    kept, gone = (one, other) if (one.confirmed, one.rows) >= (other.confirmed, other.rows) else (other, one)
    return Finding("duplicate", gone.id, gone.title, f"{like:.0%} of its symptom's words are those of `{kept.id}`", ("merge",), other=kept.id, count=round(like * 100))


def in_order(findings: Iterable[Finding]) -> list[Finding]:
    """By the value of their kind, then the most frequent first."""
    place: Mapping[str, int] = {kind.name: at for at, kind in enumerate(KINDS)}
    return sorted(findings, key=lambda finding: (place[finding.kind], -finding.count, finding.id))

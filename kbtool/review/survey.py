"""The base seen as a whole: every entry's card with what the journal knows about it."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from kbtool.errors import KbError
from kbtool.journal import history
from kbtool.journal.history import Month
from kbtool.journal.journal import Journal
from kbtool.knowledge.card import UNMET, Card, from_json
from kbtool.knowledge.layers import Base
from kbtool.knowledge.problems import Problem
from kbtool.matching.index import Index


@dataclass(frozen=True)
class Standing:
    """An entry and how it stands: its card, its file, and what the journal knows of it."""

    card: Card
    base: Base
    relative: str
    months: Mapping[str, Month] = field(default_factory=dict)
    unmet: int = 0
    """How often its check could not run on this machine because a need was not met."""

    @property
    def path(self) -> Path:
        """The entry's file."""
        return self.base.root / self.relative

    def incidents(self, since: str = "") -> int:
        """Failures that it stood for since a month: texts it answered first here, or confirmed outcomes in its file, whichever are more."""
        return sum(self.by_month(since).values())

    def by_month(self, since: str = "") -> dict[str, int]:
        """Month to incidents."""
        counts = {month: counted.first for month, counted in self.months.items() if month >= since}
        for month, confirmed in self.card.months.items():
            if month >= since:
                counts[month] = max(confirmed, counts.get(month, 0))
        return counts

    def refuted_here(self) -> int:
        """Refutations that the journal saw."""
        return sum(month.refuted for month in self.months.values())

    @property
    def last_seen(self) -> str | None:
        """The last month in which it stood for something; None if it never did."""
        here = max((month for month, counted in self.months.items() if counted.first), default="")
        return max(here, max(self.card.months, default="")) or None


@dataclass(frozen=True)
class Survey:
    """All entries in use, and what kept others from being read."""

    standings: tuple[Standing, ...]
    problems: tuple[Problem, ...]

    def find(self, entry_id: str) -> Standing | None:
        """The standing of one entry."""
        return next((standing for standing in self.standings if standing.card.id == entry_id), None)


def survey(index: Index, journal: Journal) -> Survey:
    """Look over every entry of an index. No entry's file is read."""
    months, unmet = history.by_month(journal), history.never_ran(journal, UNMET)
    try:
        standings = []
        for layer, relative, text in index.cards():
            card = from_json(text)
            standings.append(Standing(card, layer.base, relative, months.get(card.id, {}), unmet.get(card.id, 0)))
    except (ValueError, TypeError) as error:
        raise KbError(f"the index holds a card that can not be read: {error}", hint="`kb doctor --fix` builds it anew") from None
    standings.sort(key=lambda standing: (standing.card.domain, standing.card.id))
    return Survey(tuple(standings), index.problems)


def month_before(today: datetime.date, months: int) -> str:
    """The month that lies `months` before today's, ``2026-03``."""
    count = today.year * 12 + today.month - 1 - months
    return f"{count // 12:04d}-{count % 12 + 1:02d}"


def months_up_to(today: datetime.date, count: int) -> list[str]:
    """The last `count` months, today's the last of them."""
    return [month_before(today, back) for back in range(count - 1, -1, -1)]

"""How well the base does its work, by month: incidents, misses, verdicts, how fast, and how often the first answer was right."""

from __future__ import annotations

from dataclasses import dataclass

from kbtool.journal import history
from kbtool.journal.journal import Journal


@dataclass(frozen=True)
class MonthStatistics:
    """One month. `seconds` is the median time from match to verdict; `first_right` of `decided` matches had the confirmed entry first."""

    month: str
    answered: int = 0
    missed: int = 0
    confirmed: int = 0
    refuted: int = 0
    inconclusive: int = 0
    seconds: float | None = None
    first_right: int = 0
    decided: int = 0


def by_month(journal: Journal) -> list[MonthStatistics]:
    """Every month of the journal, oldest first."""
    totals: dict[str, list[int]] = {}
    for months in history.by_month(journal).values():
        for month, counted in months.items():
            total = totals.setdefault(month, [0, 0, 0, 0])
            for at, count in enumerate(counted):
                total[at] += count
    missed = history.misses_by_month(journal)
    speeds = {speed.month: speed for speed in history.speeds(journal)}
    found = []
    for month in sorted({*totals, *missed, *speeds}):
        answered, confirmed, refuted, inconclusive = totals.get(month, [0, 0, 0, 0])
        speed = speeds.get(month)
        found.append(
            MonthStatistics(
                month,
                answered,
                missed.get(month, 0),
                confirmed,
                refuted,
                inconclusive,
                speed.seconds if speed else None,
                speed.first_right if speed else 0,
                speed.decided if speed else 0,
            )
        )
    return found

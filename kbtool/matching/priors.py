"""What outcomes add to the text: of causes that print the same message, the one that checks confirmed more often is the likelier.

A prior only settles what the text leaves open, so its weight is bounded: it turns the order of near rivals, never that of a clear
answer. Outcomes of an older check do not count (`rows.tally_of`), and inconclusive ones say nothing.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from kbtool.model import Tally

if TYPE_CHECKING:
    from kbtool.matching.answer import Scored

MOST = 2.0
"""The largest factor on the odds, and its inverse the smallest."""

RATING = 1.5
"""What a factor of e adds to the rating that orders candidates."""


def factor(tally: Tally) -> float:
    """What the odds of an entry are multiplied by: 1 without outcomes, more with confirmations, less with refutations."""
    ratio = math.sqrt((tally.confirmed + 1) / (tally.refuted + 1))
    return min(max(ratio, 1 / MOST), MOST)


def weighed(candidates: Sequence[Scored]) -> list[Scored]:
    """The candidates with their outcomes taken into account, best first; without outcomes nothing changes."""
    moved = [(item, factor(item.record.tally)) for item in candidates]
    moved.sort(key=lambda pair: -(pair[0].rating + RATING * math.log(pair[1])))
    return [item._replace(probability=_moved(item.probability, by)) for item, by in moved]


def _moved(probability: float, by: float) -> float:
    if by == 1.0 or not 0 < probability < 1:
        return probability
    odds = probability / (1 - probability) * by
    return odds / (1 + odds)

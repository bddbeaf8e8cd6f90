"""Which entries are worth comparing: found and ordered by their postings, before a single one is opened.

Two passes over the postings of the report's most telling tokens. The first sums up what each entry holds; the second, for the finalists,
estimates the rating that the comparison would give them, as far as it follows from which part of an entry holds which token.
"""

from __future__ import annotations

import heapq
import math
from array import array
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from kbtool.matching.index import Index, Outline
from kbtool.matching.postings import CONTEXT, PARTS, SHIFT, SYMPTOM, TITLE
from kbtool.matching.rows import Record
from kbtool.model import Status

SIFTED = 2500
"""Postings that the first pass reads."""
FINALISTS = 64
"""Entries of a layer that the second pass looks at."""
LEAST, MOST = 6, 20
"""Entries that are compared feature by feature."""
NEAR = 3.0
"""An estimate that is farther than this from the best one's is hardly ever made good by the comparison."""
PART_FACTORS = tuple((1.0 if part & SYMPTOM else 0.0) + (0.6 if part & CONTEXT else 0.0) + (0.5 if part & TITLE else 0.0) for part in range(PARTS + 1))
"""What holding a token in these parts of an entry counts in the first pass."""
CONTEXT_EXPLAINS = 0.6
USUAL_BITS = 4.0
"""What a token of an entry tells on the average: how much of a title or symptom is missing is counted, not weighed."""
SHORT_SYMPTOM = 5.0
"""Bits added to every symptom's, lest a symptom of two words count as found whole."""

EXPLAINED, INFORMATION, SALIENT_INFORMATION, CONTEXT_INFORMATION, TITLE_SHARE, SALIENT_MISSING, COVERAGE = 2.78, 0.91, 0.8, 0.62, 5.65, -1.32, 6.17
"""Weights of the features of `score`, as far as postings show them; fitted to the ratings of full comparisons."""


class Telling(NamedTuple):
    """A token that candidates are sought by: what finding it tells, and how."""

    token: str
    weight: float
    """Of the weightiest line that holds it."""
    idf: float
    primary: bool
    """It stands in the message of the first real failure."""


class _Found:
    """What the postings show of a finalist, summed up."""

    __slots__ = ("explained", "prose", "salient", "salients", "symptom", "title")

    def __init__(self) -> None:
        self.explained = self.prose = self.salient = self.symptom = self.title = 0.0
        self.salients = 0


def candidates(index: Index, sought: Sequence[Telling], *, retired: bool = False) -> list[Record]:
    """The entries of all layers that the comparison is likely to rate best, the likeliest first; `retired` ones only where asked for."""
    ranked: list[tuple[float, str, int, int]] = []
    for place, layer in enumerate(index.layers):
        postings = index.postings(layer, [telling.token for telling in sought])
        best = _most_shared(postings, sought, FINALISTS)
        outlines = index.outlines(layer, best)
        kept = [outline for outline in outlines if retired or outline.status != Status.RETIRED.value]
        estimates = _estimates(postings, sought, kept)
        hidden = index.hidden(place, [outline.id for outline in kept])
        ranked += ((-estimates[outline.number], outline.id, place, outline.number) for outline in kept if outline.id not in hidden)
    ranked.sort()
    near = sum(order <= ranked[0][0] + NEAR for order, _, _, _ in ranked)
    return _records(index, ranked[: min(MOST, max(LEAST, near))])


def holders(index: Index, tokens: Iterable[str], limit: int) -> list[Record]:
    """The entries of all layers that hold most of the tokens."""
    wanted = dict.fromkeys(tokens, 1.0)
    ranked: list[tuple[float, str, int, int]] = []
    for place, layer in enumerate(index.layers):
        postings = index.postings(layer, list(wanted))
        counts: defaultdict[int, float] = defaultdict(float)
        for values in postings.values():
            for value in values:
                counts[value >> SHIFT] += 1.0
        outlines = index.outlines(layer, heapq.nlargest(limit, counts, key=lambda number: (counts[number], -number)))
        hidden = index.hidden(place, [outline.id for outline in outlines])
        ranked += ((-counts[outline.number], outline.id, place, outline.number) for outline in outlines if outline.id not in hidden)
    return _records(index, sorted(ranked)[:limit])


def _records(index: Index, ranked: Sequence[tuple[float, str, int, int]]) -> list[Record]:
    """The entries behind a ranking of (order, id, layer, number), in its order."""
    found: dict[tuple[int, int], Record] = {}
    for place, layer in enumerate(index.layers):
        numbers = [number for _, _, at, number in ranked if at == place]
        found.update(((place, number), record) for number, record in index.records(layer, numbers).items())
    return [found[place, number] for _, _, place, number in ranked]


def _most_shared(postings: Mapping[str, array[int]], sought: Sequence[Telling], limit: int) -> list[int]:
    """Numbers of the entries that hold most of the tokens by weight; the most telling tokens decide who takes part."""
    sums: defaultdict[int, float] = defaultdict(float)
    left = SIFTED
    for telling in sought:
        values = postings.get(telling.token, ())
        left -= len(values)
        if left < 0:
            break
        bits = telling.weight * telling.idf
        by_parts = [bits * factor for factor in PART_FACTORS]
        for value in values:
            sums[value >> SHIFT] += by_parts[value & PARTS]
    return heapq.nlargest(limit, sums, key=sums.__getitem__)


def _estimates(postings: Mapping[str, array[int]], sought: Sequence[Telling], outlines: Sequence[Outline]) -> dict[int, float]:
    """Number → estimated rating, up to a constant."""
    found = {outline.number: _Found() for outline in outlines}
    for telling in sought:
        for value in postings.get(telling.token, ()):
            finalist = found.get(value >> SHIFT)
            if finalist is not None:
                _add(finalist, telling, value & PARTS)
    primary = sum(telling.idf for telling in sought if telling.primary) or 1.0
    return {outline.number: _estimate(found[outline.number], outline, primary) for outline in outlines}


def _add(finalist: _Found, telling: Telling, parts: int) -> None:
    bits = telling.weight * telling.idf
    if parts & SYMPTOM:
        finalist.symptom += bits
        if parts & CONTEXT:
            finalist.salient += bits
            finalist.salients += 1
    elif parts & CONTEXT:
        finalist.prose += bits
    if parts & TITLE:
        finalist.title += bits
    if telling.primary and parts:
        finalist.explained += telling.idf if parts & SYMPTOM else CONTEXT_EXPLAINS * telling.idf


def _estimate(found: _Found, outline: Outline, primary: float) -> float:
    return (
        EXPLAINED * found.explained / primary
        + INFORMATION * math.log1p(found.symptom)
        + SALIENT_INFORMATION * math.log1p(found.salient)
        + CONTEXT_INFORMATION * math.log1p(found.prose)
        + TITLE_SHARE * found.title / (USUAL_BITS * outline.title_tokens or 1.0)
        + SALIENT_MISSING * (1.0 - found.salients / outline.salient_tokens if outline.salient_tokens else 0.0)
        + COVERAGE * found.symptom / (USUAL_BITS * outline.symptom_tokens + SHORT_SYMPTOM)
    )

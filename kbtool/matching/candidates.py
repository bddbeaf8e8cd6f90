"""Which entries are worth comparing: found and ordered by their postings, before a single one is opened.

Two passes over the postings of the report's most telling tokens. The first sums up what each entry holds; the second, for the finalists,
estimates the rating that the comparison would give them, as far as it follows from which part of an entry holds which token.
"""

from __future__ import annotations

import heapq
import math
from array import array
from bisect import bisect_left
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise, repeat
from typing import NamedTuple

from kbtool.matching.index import Index, Outline
from kbtool.matching.postings import CONTEXT, PARTS, SHIFT, SYMPTOM, TITLE, posting
from kbtool.matching.rows import Record
from kbtool.matching.score import CONTEXT_EXPLAINS, PARAPHRASE_EXPLAINS
from kbtool.model import Status

SIFTED = 2000
"""Postings that the first pass reads."""
FINALISTS = 32
"""Entries of a layer that the second pass looks at."""
LOOKED_UP_FROM = 12
"""Postings an entry from which on searching for each entry's own is faster than passing over them all."""
PORTIONS = (0, 6, *range(8, 21, 2))
"""Bounds of the portions in which the best are opened and compared; the last one is the most that ever are."""
MOST = PORTIONS[-1]
PART_FACTORS = tuple((1.0 if part & SYMPTOM else 0.0) + (0.6 if part & CONTEXT else 0.0) + (0.5 if part & TITLE else 0.0) for part in range(PARTS + 1))
"""What holding a token in these parts of an entry counts in the first pass."""
USUAL_BITS = 4.0
"""What a token of an entry tells on the average: how much of a title or symptom is missing is counted, not weighed."""
SHORT_SYMPTOM = 5.0
"""Bits added to every symptom's, lest a symptom of two words count as found whole."""

BIAS = -2.95
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
    paraphrase: float = 0.0
    """In how many of the texts that this message could be in other words it stands, as a share."""


class Candidate(NamedTuple):
    """An entry that may be compared: its `number` in the index's `layer`, and the rating that its postings promise."""

    estimate: float
    id: str
    layer: int
    number: int


class _Found:
    """What the postings show of a finalist, summed up."""

    __slots__ = ("explained", "prose", "reworded", "salient", "salients", "symptom", "title")

    def __init__(self) -> None:
        self.explained = self.prose = self.reworded = self.salient = self.symptom = self.title = 0.0
        self.salients = 0


def candidates(index: Index, sought: Sequence[Telling], *, retired: bool = False) -> list[Candidate]:
    """The entries of all layers that the comparison may rate best, the likeliest first; `retired` ones only where asked for."""
    found: list[Candidate] = []
    for place, layer in enumerate(index.layers):
        postings = index.postings(layer, [telling.token for telling in sought])
        outlines = index.outlines(layer, _most_shared(postings, sought, FINALISTS))
        kept = [outline for outline in outlines if retired or outline.status != Status.RETIRED.value]
        estimates = _estimates(postings, sought, kept)
        hidden = index.hidden(place, [outline.id for outline in kept])
        found += (Candidate(estimates[outline.number], outline.id, place, outline.number) for outline in kept if outline.id not in hidden)
    return sorted(found, key=_order)[:MOST]


def batches(found: Sequence[Candidate]) -> Iterator[Sequence[Candidate]]:
    """Candidates in portions: whoever compares may stop after each."""
    for start, end in pairwise(PORTIONS):
        if start < len(found):
            yield found[start:end]


def _order(candidate: Candidate) -> tuple[float, str]:
    return -candidate.estimate, candidate.id


def holders(index: Index, tokens: Iterable[str], limit: int) -> list[Record]:
    """The entries of all layers that hold most of the tokens; for a search by words."""
    wanted = list(dict.fromkeys(tokens))
    found: list[Candidate] = []
    for place, layer in enumerate(index.layers):
        counts = Counter(value >> SHIFT for values in index.postings(layer, wanted).values() for value in values)
        outlines = index.outlines(layer, heapq.nlargest(limit, counts, key=lambda number: (counts[number], -number)))
        hidden = index.hidden(place, [outline.id for outline in outlines])
        found += (Candidate(counts[outline.number], outline.id, place, outline.number) for outline in outlines if outline.id not in hidden)
    return records(index, sorted(found, key=_order)[:limit])


def records(index: Index, found: Sequence[Candidate]) -> list[Record]:
    """The entries themselves, in the order of `found`."""
    read: dict[tuple[int, int], Record] = {}
    for place, layer in enumerate(index.layers):
        numbers = [candidate.number for candidate in found if candidate.layer == place]
        read.update(((place, number), record) for number, record in index.records(layer, numbers).items())
    return [read[candidate.layer, candidate.number] for candidate in found]


def _most_shared(postings: Mapping[str, array[int]], sought: Sequence[Telling], limit: int) -> list[int]:
    """Numbers of the entries that hold most of the tokens by weight; the most telling tokens decide who takes part."""
    sums: dict[int, float] = {}
    left = SIFTED
    for telling in sought:
        values = postings.get(telling.token, ())
        if len(values) > left and sums:
            continue
        left -= len(values)
        bits = telling.weight * telling.idf
        by_parts = [bits * factor for factor in PART_FACTORS]
        for value in values:  # two thousand times a question: a defaultdict would take half as long again
            number = value >> SHIFT
            if number in sums:
                sums[number] += by_parts[value & PARTS]
            else:
                sums[number] = by_parts[value & PARTS]
    least = heapq.nlargest(limit, sums.values())[-1] if sums else 0.0
    return sorted([number for number, told in sums.items() if told >= least], key=sums.__getitem__, reverse=True)[:limit]


def _estimates(postings: Mapping[str, array[int]], sought: Sequence[Telling], outlines: Sequence[Outline]) -> dict[int, float]:
    """Number → estimated rating."""
    found = {outline.number: _Found() for outline in outlines}
    first = [posting(number, 0) for number in found]
    own = {value for start in first for value in range(start, start + PARTS + 1)}
    for telling in sought:
        _add(found, telling, _postings_of(first, own, postings.get(telling.token, _NONE)))
    primary = sum(telling.idf for telling in sought if telling.primary) or 1.0
    reworded = sum(telling.idf * telling.paraphrase for telling in sought) or 1.0
    return {outline.number: _estimate(found[outline.number], outline, primary, reworded) for outline in outlines}


_NONE: array[int] = array("I")


def _postings_of(first: Sequence[int], own: set[int], values: array[int]) -> Collection[int]:
    """Those postings that belong to one of the entries, of which `own` are all that they might have, and `first` the lowest of each."""
    if len(values) < LOOKED_UP_FROM * len(first):
        return own.intersection(values)
    return own.intersection([values[at] for at in map(bisect_left, repeat(values), first) if at < len(values)])


def _add(found: Mapping[int, _Found], telling: Telling, values: Iterable[int]) -> None:
    """Take a token into account at the entries that hold it."""
    bits = telling.weight * telling.idf
    explained = telling.idf if telling.primary else 0.0
    reworded = telling.idf if telling.paraphrase else 0.0
    for value in values:
        finalist = found[value >> SHIFT]
        if value & SYMPTOM:
            finalist.symptom += bits
            finalist.explained += explained
            finalist.reworded += reworded
            if value & CONTEXT:
                finalist.salient += bits
                finalist.salients += 1
        elif value & CONTEXT:
            finalist.prose += bits
            finalist.explained += CONTEXT_EXPLAINS * explained
        if value & TITLE:
            finalist.title += bits


def _estimate(found: _Found, outline: Outline, primary: float, reworded: float) -> float:
    return (
        BIAS
        + EXPLAINED * max(found.explained / primary, PARAPHRASE_EXPLAINS * min(1.0, found.reworded / reworded))
        + INFORMATION * math.log1p(found.symptom)
        + SALIENT_INFORMATION * math.log1p(found.salient)
        + CONTEXT_INFORMATION * math.log1p(found.prose)
        + TITLE_SHARE * found.title / (USUAL_BITS * outline.title_tokens or 1.0)
        + SALIENT_MISSING * (1.0 - found.salients / outline.salient_tokens if outline.salient_tokens else 0.0)
        + COVERAGE * found.symptom / (USUAL_BITS * outline.symptom_tokens + SHORT_SYMPTOM)
    )

"""The decisive line: the symptom line that is found best, held word by word against its place in the input.

Near misses share most words with a symptom and differ in one: another signal, the devices the other way round, another option.
What is missing, what is too much and what stands in another order in this one line tells them from another report of the same cause.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from rapidfuzz.distance import LCSseq

from kbtool.matching.idf import TokenFrequencies
from kbtool.matching.profile import Wording, WordingLine
from kbtool.matching.query import InputLine, Query
from kbtool.matching.signs import Kind
from kbtool.matching.tokens import CODE, fixed_tokens
from kbtool.matching.vocabulary import EVERYDAY

WORDS_CAP = 400
"""Words of a place in the input that are aligned."""
BELOW = 0.9
"""Factor for what stands on the line after: messages are wrapped."""
WORST = 8.0
"""Weight of a missing token that counts as the worst possible."""


class Place(NamedTuple):
    """A symptom line and where in the input it was found: `position` in the query's lines, `share` of its weight found there."""

    line: WordingLine
    position: int
    share: float
    mass: float


def places(query: Query, item: Wording, weights: Mapping[str, float]) -> list[Place]:
    """For every line of a wording but its frames, where in the input most of it stands together."""
    found = []
    for line in item.lines:
        mass = 0.0 if line.frame else sum([weights[token] for token in line.tokens])
        if not mass:
            continue
        place = _best_place(query, line, weights, mass)
        if place is not None:
            found.append(place)
    return found


def _best_place(query: Query, line: WordingLine, weights: Mapping[str, float], mass: float) -> Place | None:
    sums: dict[int, float] = {}
    holders = query.holders
    for token in line.tokens:
        if token in holders:
            weight = weights[token]
            for position in holders[token]:
                sums[position] = sums.get(position, 0.0) + weight
    if not sums:
        return None
    lines = query.lines
    sure = max([value * lines[position].weight for position, value in sums.items()])
    best, most = -1, -1.0
    for position, value in sums.items():
        weight = lines[position].weight
        hoped = (value + BELOW * (mass - value)) * weight  # where the line after makes up for all that is missing
        if hoped >= sure and hoped > most:
            joined = (value + BELOW * _added(query, line, weights, position)) * weight
            if joined > most:
                best, most = position, joined
    return Place(line, best, min(1.0, most / mass), mass)


def _added(query: Query, line: WordingLine, weights: Mapping[str, float], position: int) -> float:
    below = query.below[position]
    if below is None:
        return 0.0
    here, there = query.lines[position].held, below.held
    return sum([weights[token] for token in line.tokens if token in there and token not in here])


ABSENT: Mapping[str, float] = {
    "key_missing": 1.0,
    "key_extra_known": 1.0,
    "key_in_order": 0.0,
    "key_reordered": 0.0,
    "key_worst": 1.0,
    "key_information": 0.0,
    "key_everyday": 1.0,
    "key_primary": 0.0,
    "key_fallout": 0.0,
    "elsewhere_unexplained": 1.0,
}
"""The features of a wording of which no line was found."""


def key_features(query: Query, key: Place | None, weights: Mapping[str, float], explained: float, base: TokenFrequencies) -> Mapping[str, float]:
    """How the decisive line stands to its place; `explained` is the share of the failure's own message that the wording explains."""
    if key is None:
        return ABSENT
    place, below = query.lines[key.position], query.below[key.position]
    here, further = place.held, below.held if below else place.held
    idf = base.idf
    there = [token for token in key.line.tokens if token in here or token in further]
    missing = [weights[token] for token in key.line.tokens if token not in here and token not in further]
    fixed = fixed_tokens(place.paraphrase or query.report.lines[place.at].text)
    given = [token for token in place.tokens if (token in weights or token in fixed) and CODE not in token]
    known_extra = [token for token in given if token not in weights and base.frequency.get(token)]
    telling = [token for token in there if token not in EVERYDAY and token.partition(CODE)[0] not in EVERYDAY]
    elsewhere = bool(query.report.chain) and place.at not in query.report.chain
    in_order, present = _in_order(place, below, key.line.words, weights)
    return {
        "key_missing": sum(missing) / key.mass,
        "key_extra_known": sum(map(idf, known_extra)) / (sum(map(idf, given)) or 1.0),
        "key_in_order": in_order,
        "key_reordered": present - in_order,
        "key_worst": min(1.0, max(missing, default=0.0) / WORST),
        "key_information": math.log1p(sum(map(idf, there))),
        "key_everyday": max(0.0, 1.0 - math.log1p(sum(map(idf, telling)))),
        "key_primary": float(place.at in query.report.primary),
        "key_fallout": float(query.report.lines[place.at].kind is Kind.FALLOUT),
        "elsewhere_unexplained": (1.0 - explained) if elsewhere else 0.0,
    }


def _in_order(place: InputLine, below: InputLine | None, words: Sequence[str], weights: Mapping[str, float]) -> tuple[float, float]:
    """Shares by weight of these words of a symptom that the input has in the same order, and at all."""
    weighed = [weights.get(word, 0.0) for word in words]
    total = sum(weighed)
    if not total:
        return 1.0, 1.0
    given = (place.words + below.words if below else place.words)[:WORDS_CAP]
    held = set(given)
    there = [weight for word, weight in zip(words, weighed, strict=True) if word in held]
    if LCSseq.similarity(words, given) == len(there):  # all of them in order, as mostly, which is told faster than which are not
        dropped = sum([weight for word, weight in zip(words, weighed, strict=True) if word not in held])
    else:
        dropped = sum([weighed[edit.src_pos] for edit in LCSseq.editops(words, given) if edit.tag == "delete"])
    return (total - dropped) / total, sum(there) / total

"""How well an entry explains a report: a handful of features, each with a meaning that a person can check.

Tokens weigh what they tell in this base (inverse document frequency); a token that stands both in the symptom and in the entry's title,
cause or fix is salient: the author names it as what the fault is about.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from kbtool.matching.alignment import Place, key_features, places
from kbtool.matching.idf import TokenFrequencies
from kbtool.matching.profile import Profile, Wording, symptom_tokens
from kbtool.matching.query import Query
from kbtool.matching.tokens import CODE, CODE_WORDS
from kbtool.matching.vocabulary import PHASE_WORDS
from kbtool.model import Phase

SALIENT = 1.6
"""Factor for tokens that the entry's own title, cause or fix names again."""
VARIABLE = 0.4
"""Factor for tokens that stand in quotes, brackets or paths and are not salient: they are another name in the next report."""
NUMBERED = 0.3
"""Factor for a word with a number behind it that is not salient."""
FAINT = 0.2
"""Weight of a line below which what stands in it is not evidence: progress, and fallout beside another failure."""
CONTEXT_EXPLAINS = 0.6
"""How much a word of the failure's message counts as explained when only the entry's prose has it."""
PARAPHRASE_EXPLAINS = 0.8
"""How much a message counts as explained that says the same as the entry in other words."""
WORDINGS = 2
"""Wordings of an entry that are compared in full."""

FEATURES: tuple[str, ...] = (
    "coverage",
    "explained",
    "phrase",
    "type_other",
    "information",
    "salient_missing",
    "salient_information",
    "title",
    "context_information",
    "phase",
    "code_other",
    "line_weight",
    "key_missing",
    "key_extra_known",
    "key_in_order",
    "key_reordered",
    "key_worst",
    "key_information",
    "key_everyday",
    "key_primary",
    "key_fallout",
    "elsewhere_unexplained",
    "frames_elsewhere",
    "alternatives",
    "lookalike",
)
"""Names of all features; `docs/matching.md` says what each means."""


class Comparison(NamedTuple):
    """One wording held against a report: the features, and where in the input it was found."""

    features: Mapping[str, float]
    found: Mapping[int, tuple[str, ...]]
    """Index of a report line → tokens of the symptom found in it, or in what it says in other words."""
    paraphrases: Mapping[int, str]
    """Index of a report line → these other words, where tokens were found in them."""
    weights: Mapping[str, float]
    """Token of the symptom → its weight."""


def comparisons(query: Query, profile: Profile, base: TokenFrequencies) -> list[Comparison]:
    """An entry's likeliest wordings held against a report, each for itself: they are alternatives, not a sum. One of no wording where it has none."""
    shared = _shared_features(query, profile, base)
    likeness = max((_coverage(query, _shape_weights(item, base)) for item in profile.lookalikes), default=0.0)
    compared = [_compare_wording(query, item, profile, base, shared, likeness) for item in _likeliest(query, profile.wordings)]
    return compared or [Comparison(dict.fromkeys(FEATURES, 0.0), {}, {}, {})]


def _likeliest(query: Query, wordings: Sequence[Wording]) -> Sequence[Wording]:
    """The wordings of which most words stand in the input."""
    return wordings if len(wordings) <= WORDINGS else sorted(wordings, key=lambda item: -_held(query, item))[:WORDINGS]


def _held(query: Query, item: Wording) -> float:
    found = total = 0
    for line in item.lines:
        total += len(line.tokens)
        found += sum([token in query.bag for token in line.tokens])
    return found / total if total else 0.0


def _compare_wording(query: Query, item: Wording, profile: Profile, base: TokenFrequencies, shared: Mapping[str, float], likeness: float) -> Comparison:
    weights = _token_weights(item, base, profile.context)
    found = places(query, item, weights)
    key = max(found, key=lambda place: place.mass * place.share, default=None)
    salient = {token: weight for token, weight in weights.items() if token in profile.context}
    explained = _explained(query, weights, profile, base)
    coverage = _coverage(query, weights)
    features = {
        **shared,
        "coverage": coverage,
        "explained": explained,
        "phrase": _phrase(query, item, base),
        "type_other": float(bool(item.types) and bool(query.types) and not set(item.types) & set(query.types)),
        "information": _information(query, weights, base),
        "salient_missing": _missing(query, salient or weights),
        "salient_information": _information(query, salient, base),
        "code_other": _code_other(query, item, profile),
        "line_weight": query.lines[key.position].weight if key else 0.0,
        "lookalike": _lookalike(likeness, coverage),
        "frames_elsewhere": _frames_elsewhere(query, item, base),
        "alternatives": math.log(len(profile.wordings)),
        **key_features(query, key, weights, explained, base),
    }
    there = (query.lines[place.position] for place in found)
    return Comparison(features, _found_tokens(query, found), {line.at: line.paraphrase for line in there if line.paraphrase}, weights)


def _token_weights(item: Wording, base: TokenFrequencies, context: frozenset[str]) -> dict[str, float]:
    weights: dict[str, float] = {}
    idf = base.idf
    for line in item.lines:
        scale, variable = line.weight, line.variable
        for token in line.tokens:
            factor = SALIENT if token in context else VARIABLE if token in variable else 1.0
            if CODE in token and token not in context:
                factor *= NUMBERED
            weight = scale * factor * idf(token)
            if weight > weights.get(token, 0.0):
                weights[token] = weight
    return weights


def _shape_weights(item: Wording, base: TokenFrequencies) -> dict[str, float]:
    """Weights of what a text has whatever it is about: other numbers, names and paths make no other shape."""
    return {
        token: line.weight * base.idf(token)
        for line in item.lines
        for token in line.tokens
        if token not in line.variable and (CODE not in token or token.partition(CODE)[0] in CODE_WORDS)
    }


def _coverage(query: Query, weights: Mapping[str, float]) -> float:
    total = sum(weights.values())
    bag = query.bag
    return sum([weight * bag[token] for token, weight in weights.items() if token in bag]) / total if total else 0.0


def _missing(query: Query, weights: Mapping[str, float]) -> float:
    """Share by weight of the tokens that the input does not have, or only in fallout and the like; 1 where there are none."""
    total = sum(weights.values())
    bag = query.bag
    return sum([weight for token, weight in weights.items() if bag.get(token, 0.0) < FAINT]) / total if total else 1.0


def _information(query: Query, tokens: Mapping[str, float], base: TokenFrequencies) -> float:
    bag, idf = query.bag, base.idf
    return math.log1p(sum([idf(token) * bag[token] for token in tokens if token in bag]))


def _explained(query: Query, weights: Mapping[str, float], profile: Profile, base: TokenFrequencies) -> float:
    """Share of the first failure's own message that the entry explains; of what it could say in other words a little less."""
    others = [PARAPHRASE_EXPLAINS * _share_explained(tokens, weights, profile, base) for tokens in query.paraphrases]
    return max(_share_explained(query.primary, weights, profile, base), *others, 0.0)


def _share_explained(message: Sequence[str], weights: Mapping[str, float], profile: Profile, base: TokenFrequencies) -> float:
    total = got = 0.0
    for token in message:
        if CODE in token and token not in weights:
            continue
        idf = base.idf(token)
        total += idf
        got += idf if token in weights else CONTEXT_EXPLAINS * idf if token in profile.context else 0.0
    return got / total if total else 0.0


def _phrase(query: Query, item: Wording, base: TokenFrequencies) -> float:
    """Share by weight of the symptom's pairs of words that follow each other in the input too."""
    got = total = 0.0
    pairs = query.pairs
    for line in item.lines:
        if line.frame:
            continue
        bits = [base.idf(word) for word in line.words]
        for pair, two in zip(pairwise(line.words), pairwise(bits), strict=True):
            weight = line.weight * (two[0] + two[1])
            total += weight
            if pair in pairs:
                got += weight * pairs[pair]
    return got / total if total else 0.0


def _shared_features(query: Query, profile: Profile, base: TokenFrequencies) -> dict[str, float]:
    """What follows from title, cause and fix: bits found beyond the symptom's words, the title's share, and whether the phase fits."""
    bag, idf = query.bag, base.idf
    symptom = symptom_tokens(profile)
    beyond = sum([idf(token) * bag[token] for token in profile.context if token in bag and token not in symptom])
    title = sum(map(idf, profile.title))
    told = sum([idf(token) * bag[token] for token in profile.title if token in bag])
    phase = PHASE_WORDS.get(query.report.failure.phase if query.report.failure else Phase.UNKNOWN, frozenset())
    return {"context_information": math.log1p(beyond), "title": told / title if title else 0.0, "phase": float(bool(phase & profile.context))}


def _lookalike(likeness: float, coverage: float) -> float:
    """1 where the input is a text that the entry names as another fault; between 0 and 1 where it is nearer to that than to the symptom."""
    return 1.0 if likeness >= 0.95 and likeness >= coverage - 0.05 else max(0.0, min(1.0, 2.0 * (likeness - coverage)))


def _code_other(query: Query, item: Wording, profile: Profile) -> float:
    """1 where a code of the symptom (a signal, an errno) stands against another number in the input."""
    coded = (token for line in item.lines for token in line.tokens if CODE in token and token not in query.bag) if query.codes else ()
    for token in coded:
        word = token.partition(CODE)[0]
        if word in query.codes and (word in CODE_WORDS or token in profile.context):
            return 1.0
    return 0.0


def _frames_elsewhere(query: Query, item: Wording, base: TokenFrequencies) -> float:
    """How far the symptom's frames are from those of the input: 0 where one is the same or either has none, 1 where nothing is."""
    frames = [line.tokens for line in item.lines if line.frame]
    if not frames or not query.frames:
        return 0.0
    return 1.0 - max(sum(base.idf(token) for token in held if token in query.frames) / (sum(map(base.idf, held)) or 1.0) for held in frames)


def _found_tokens(query: Query, found: list[Place]) -> dict[int, tuple[str, ...]]:
    tokens: dict[int, tuple[str, ...]] = {}
    for place in found:
        there = query.lines[place.position]
        hit = tuple([token for token in place.line.tokens if token in there.held])
        tokens[there.at] = tuple(dict.fromkeys(tokens.get(there.at, ()) + hit))
    return tokens

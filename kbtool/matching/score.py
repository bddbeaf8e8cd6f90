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
from kbtool.matching.profile import Factors, Profile, Wording, symptom_tokens
from kbtool.matching.query import Query
from kbtool.matching.tokens import CODE, CODE_WORDS
from kbtool.matching.vocabulary import PHASE_WORDS
from kbtool.model import Phase

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
    weights: Mapping[str, float]
    """Token of the symptom → its weight."""
    query: Query
    places: Sequence[Place]

    @property
    def found(self) -> dict[int, tuple[str, ...]]:
        """Index of a report line → tokens of the symptom found in it, or in what it says in other words; gathered when asked for, for few are shown."""
        tokens: dict[int, tuple[str, ...]] = {}
        for place in self.places:
            there = self.query.lines[place.position]
            hit = tuple([token for token in place.line.tokens if token in there.held])
            tokens[there.at] = tuple(dict.fromkeys(tokens.get(there.at, ()) + hit))
        return tokens

    @property
    def paraphrases(self) -> dict[int, str]:
        """Index of a report line → these other words, where tokens were found in them."""
        there = (self.query.lines[place.position] for place in self.places)
        return {line.at: line.paraphrase for line in there if line.paraphrase}


def comparisons(query: Query, profile: Profile, base: TokenFrequencies) -> list[Comparison]:
    """An entry's likeliest wordings held against a report, each for itself: they are alternatives, not a sum. One of no wording where it has none."""
    shared = _shared_features(query, profile, base)
    likeness = max([_found(query, factors, base, {}).coverage for factors in profile.lookalikes], default=0.0)
    compared = [_compare_wording(query, item, profile, base, shared, likeness) for item in _likeliest(query, profile.wordings)]
    return compared or [Comparison(dict.fromkeys(FEATURES, 0.0), {}, query, ())]


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
    weights: dict[str, float] = {}
    salient = _found(query, item.salient, base, weights)
    found = salient.with_more(_found(query, item.plain, base, weights))
    there = places(query, item, weights)
    key = max(there, key=_mass_found, default=None)
    explained = _explained(query, weights, profile, base)
    features = {
        **shared,
        "coverage": found.coverage,
        "explained": explained,
        "phrase": _phrase(query, item, base),
        "type_other": float(bool(item.types and query.types) and item.types.isdisjoint(query.types)),
        "information": math.log1p(found.information),
        "salient_missing": (salient if item.salient else found).missing,
        "salient_information": math.log1p(salient.information),
        "code_other": _code_other(query, weights, profile),
        "line_weight": query.lines[key.position].weight if key else 0.0,
        "lookalike": _lookalike(likeness, found.coverage),
        "frames_elsewhere": _frames_elsewhere(query, item, base),
        "alternatives": math.log(len(profile.wordings)),
        **key_features(query, key, weights, explained, base),
    }
    return Comparison(features, weights, query, there)


def _mass_found(place: Place) -> float:
    return place.mass * place.share


class _Found(NamedTuple):
    """Tokens of an entry by their weights, summed up by what of them the input has."""

    total: float
    held: float
    """Weight that stands in the input, by the weight of its lines there."""
    absent: float
    """Weight that does not, or only in fallout and the like."""
    information: float
    """Bits that stand in the input, by the weight of their lines there."""

    @property
    def coverage(self) -> float:
        """Share by weight that stands in the input; 0 where there are no tokens."""
        return self.held / self.total if self.total else 0.0

    @property
    def missing(self) -> float:
        """Share by weight that does not; 1 where there are no tokens."""
        return self.absent / self.total if self.total else 1.0

    def with_more(self, other: _Found) -> _Found:
        """Both together."""
        return _Found(self.total + other.total, self.held + other.held, self.absent + other.absent, self.information + other.information)


def _found(query: Query, factors: Factors, base: TokenFrequencies, weights: dict[str, float]) -> _Found:
    """What of these tokens the input has; each of them with its weight joins `weights`."""
    bag, idf = query.bag, base.idf
    total = held = absent = information = 0.0
    for factor, tokens in factors:
        for token in tokens:
            bits = idf(token)
            weights[token] = weight = factor * bits
            total += weight
            if token in bag:
                here = bag[token]
                held += here * weight
                information += here * bits
                if here < FAINT:
                    absent += weight
            else:
                absent += weight
    return _Found(total, held, absent, information)


def _explained(query: Query, weights: Mapping[str, float], profile: Profile, base: TokenFrequencies) -> float:
    """Share of the first failure's own message that the entry explains; of what it could say in other words a little less."""
    explained = _share_explained(query.primary, weights, profile, base)
    for tokens in query.paraphrases:
        explained = max(explained, PARAPHRASE_EXPLAINS * _share_explained(tokens, weights, profile, base))
    return explained


def _share_explained(message: Sequence[str], weights: Mapping[str, float], profile: Profile, base: TokenFrequencies) -> float:
    idf, context = base.idf, profile.context
    total = got = 0.0
    for token in message:
        if token in weights:
            bits = idf(token)
            got += bits
            total += bits
        elif CODE not in token:
            bits = idf(token)
            total += bits
            if token in context:
                got += CONTEXT_EXPLAINS * bits
    return got / total if total else 0.0


def _phrase(query: Query, item: Wording, base: TokenFrequencies) -> float:
    """Share by weight of the symptom's pairs of words that follow each other in the input too."""
    pairs, idf = query.pairs, base.idf
    got = total = 0.0
    for line in item.lines:
        words = line.words
        if line.frame or len(words) < 2:
            continue
        bits = list(map(idf, words))
        total += line.weight * (2.0 * sum(bits) - bits[0] - bits[-1])
        got += line.weight * sum([pairs[pair] * (bits[at] + bits[at + 1]) for at, pair in enumerate(pairwise(words)) if pair in pairs])
    return got / total if total else 0.0


def _shared_features(query: Query, profile: Profile, base: TokenFrequencies) -> dict[str, float]:
    """What follows from title, cause and fix: bits found beyond the symptom's words, the title's share, and whether the phase fits.

    What the failure could say in other words counts for the title, which names it, not for cause and fix, which have words of their own.
    """
    bag, own, idf = query.bag, query.own, base.idf
    symptom = symptom_tokens(profile)
    beyond = sum([idf(token) * own[token] for token in profile.context if token in own and token not in symptom])
    title = sum(map(idf, profile.title))
    told = sum([idf(token) * bag[token] for token in profile.title if token in bag])
    phase = PHASE_WORDS.get(query.report.failure.phase if query.report.failure else Phase.UNKNOWN, frozenset())
    return {"context_information": math.log1p(beyond), "title": told / title if title else 0.0, "phase": float(not phase.isdisjoint(profile.context))}


def _lookalike(likeness: float, coverage: float) -> float:
    """1 where the input is a text that the entry names as another fault; between 0 and 1 where it is nearer to that than to the symptom."""
    return 1.0 if likeness >= 0.95 and likeness >= coverage - 0.05 else max(0.0, min(1.0, 2.0 * (likeness - coverage)))


def _code_other(query: Query, weights: Mapping[str, float], profile: Profile) -> float:
    """1 where a code of the symptom (a signal, an errno) stands against another number in the input."""
    for token in weights if query.codes else ():
        if CODE in token and token not in query.bag:
            word = token.partition(CODE)[0]
            if word in query.codes and (word in CODE_WORDS or token in profile.context):
                return 1.0
    return 0.0


def _frames_elsewhere(query: Query, item: Wording, base: TokenFrequencies) -> float:
    """How far the symptom's frames are from those of the input: 0 where one is the same or either has none, 1 where nothing is."""
    frames = [line.tokens for line in item.lines if line.frame] if query.frames else []
    if not frames:
        return 0.0
    return 1.0 - max(sum(base.idf(token) for token in held if token in query.frames) / (sum(map(base.idf, held)) or 1.0) for held in frames)

"""How well an entry explains a report: a handful of features, each with a meaning that a person can check.

Tokens weigh what they tell in this base (inverse document frequency); a token that stands both in the symptom and in the entry's title,
cause or fix is salient: the author names it as what the fault is about.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from itertools import pairwise

from kbtool.matching.profile import Profile, Wording, WordingLine, exception_types, line_text
from kbtool.matching.report import Report
from kbtool.matching.signs import Kind
from kbtool.matching.tokens import CODE, CODE_WORDS, fixed_tokens, tokens, words
from kbtool.matching.vocabulary import PHASE_WORDS, TRADE
from kbtool.model import Phase

TROUBLE: frozenset[Kind] = frozenset({Kind.EXCEPTION, Kind.SIGN, Kind.FALLOUT, Kind.WRAPPER, Kind.TRACEBACK})
SALIENT = 1.6
"""Factor for tokens that the entry's own title, cause or fix names again."""
VARIABLE = 0.4
"""Factor for tokens that stand in quotes, brackets or paths and are not salient: they are another name in the next report."""
COMPARED_LINES = 240
"""Lines of a report, the weightiest first, that are compared one by one."""


@dataclass(frozen=True)
class InputLine:
    """A line of the report as it is compared."""

    index: int
    weight: float
    tokens: tuple[str, ...]
    words: tuple[str, ...]
    fixed: frozenset[str]
    """Tokens outside of quotes, brackets and paths."""


@dataclass(frozen=True)
class Query:
    """A report, made ready once for many comparisons."""

    report: Report
    bag: Mapping[str, float]
    """Token → weight of the weightiest line that holds it."""
    lines: tuple[InputLine, ...]
    holders: Mapping[str, tuple[int, ...]]
    """Token → positions in `lines`."""
    primary: tuple[str, ...]
    """Tokens of the first real failure's message."""
    failing: tuple[str, ...]
    """Tokens outside of quotes and paths in all messages of the failure and of what was raised from it."""
    pairs: Mapping[tuple[str, str], float]
    """Consecutive words → weight of their line."""
    frames: frozenset[str]
    types: tuple[str, ...]
    codes: Mapping[str, frozenset[str]]
    """Word → numbers that follow it."""
    troubled: bool
    """The input shows a failure at all."""
    at_home: bool
    """The input speaks of deep learning."""


def make_query(report: Report) -> Query:
    """Prepare a report for comparison."""
    lines = [
        InputLine(index, line.weight, tuple(dict.fromkeys(tokens(line_text(line)) + (tokens(line.mended) if line.mended else []))), tuple(words(line_text(line))), frozenset(fixed_tokens(line.text)))
        for index, line in enumerate(report.lines)
        if line.weight > 0
    ]
    bag: dict[str, float] = {}
    pairs: dict[tuple[str, str], float] = {}
    for line in lines:
        for token in line.tokens:
            bag[token] = max(bag.get(token, 0.0), line.weight)
        for pair in pairwise(line.words):
            pairs[pair] = max(pairs.get(pair, 0.0), line.weight)
    chosen = tuple(sorted(sorted(lines, key=lambda line: -line.weight)[:COMPARED_LINES], key=lambda line: line.index))
    return Query(
        report=report,
        bag=bag,
        lines=chosen,
        holders=_holders(chosen),
        primary=tuple(dict.fromkeys(token for line in lines if line.index in set(report.primary) for token in line.tokens)),
        failing=tuple(dict.fromkeys(token for line in lines if line.index in set(report.chain) for token in line.tokens if token in line.fixed)),
        pairs=pairs,
        frames=frozenset(token for line in lines if report.lines[line.index].kind is Kind.FRAME for token in line.tokens),
        types=exception_types(report),
        codes=_codes(bag),
        troubled=any(line.kind in TROUBLE for line in report.lines),
        at_home=not TRADE.isdisjoint(bag),
    )


def _holders(lines: tuple[InputLine, ...]) -> dict[str, tuple[int, ...]]:
    holders: dict[str, list[int]] = {}
    for position, line in enumerate(lines):
        for token in line.tokens:
            holders.setdefault(token, []).append(position)
    return {token: tuple(positions) for token, positions in holders.items()}


def _codes(bag: Iterable[str]) -> dict[str, frozenset[str]]:
    codes: dict[str, set[str]] = {}
    for token in bag:
        word, mark, number = token.partition(CODE)
        if mark:
            codes.setdefault(word, set()).add(number)
    return {word: frozenset(numbers) for word, numbers in codes.items()}


@dataclass(frozen=True)
class Base:
    """What the base knows of tokens: `size` entries, and in how many of them each token stands."""

    size: int
    frequency: Mapping[str, int]
    _cache: dict[str, float] = field(default_factory=dict)

    def idf(self, token: str) -> float:
        """Bits that finding the token tells about which entry it is."""
        found = self._cache.get(token)
        if found is None:
            count = self.frequency.get(token, 0)
            found = self._cache[token] = math.log(1 + (self.size - count + 0.5) / (count + 0.5))
        return found


FEATURES: tuple[str, ...] = (
    "coverage",
    "message",
    "explained",
    "explained_all",
    "explained_line",
    "phrase",
    "type_same",
    "type_other",
    "information",
    "salient_missing",
    "context",
    "context_information",
    "title",
    "frames",
    "code_same",
    "code_other",
    "line_weight",
    "key_missing",
    "key_extra",
    "key_extra_known",
    "key_order",
    "key_information",
    "key_primary",
    "key_in_order",
    "key_worst",
    "key_substituted",
    "key_reordered",
    "key_fallout",
    "elsewhere",
    "elsewhere_unexplained",
    "salient_information",
    "phase",
    "lookalike",
)


@dataclass(frozen=True)
class Comparison:
    """One wording held against a report: the features, and where in the input it was found."""

    features: Mapping[str, float]
    found: Mapping[int, tuple[str, ...]]
    """Index of a report line → tokens of the symptom found in it."""


def compare(query: Query, profile: Profile, base: Base, rate: Callable[[Mapping[str, float]], float]) -> Comparison:
    """The best of an entry's wordings against a report; wordings are alternatives, not a sum."""
    best: Comparison | None = None
    best_rate = -math.inf
    lookalike = max((_coverage(query, item, base, frozenset()) for item in profile.lookalikes), default=0.0)
    context = _context(query, profile, base)
    for item in profile.wordings:
        one = _compare_wording(query, item, profile, base, lookalike, context)
        rated = rate(one.features)
        if rated > best_rate:
            best, best_rate = one, rated
    return best or Comparison(dict.fromkeys(FEATURES, 0.0), {})


def _compare_wording(query: Query, item: Wording, profile: Profile, base: Base, lookalike: float, context: tuple[float, float, float, float]) -> Comparison:
    weights = _token_weights(item, base, profile.context)
    total = sum(weights.values()) or 1.0
    matched = sum(weight * query.bag.get(token, 0.0) for token, weight in weights.items())
    found = {token for token in weights if token in query.bag}
    codes = _codes_compared(query, item, base, profile.context)
    message, explained_line, line_weight, places, key = _lines_found(query, item, weights, base)
    salient = {token: weight for token, weight in weights.items() if token in profile.context}
    salient_total = sum(salient.values())
    known = set(weights) | set(profile.context)
    features = {
        "coverage": matched / total,
        "message": message,
        "explained": _explained(query.primary, weights, known, base),
        "explained_all": _explained(query.failing, weights, known, base),
        "explained_line": explained_line,
        "phrase": _phrase(query, item, base),
        "type_same": _type_same(query, item, base),
        "type_other": float(bool(item.types) and bool(query.types) and not set(item.types) & set(query.types)),
        "information": math.log1p(sum(base.idf(token) * query.bag[token] for token in found)),
        "salient_missing": sum(weight for token, weight in salient.items() if token not in query.bag) / salient_total if salient_total else 0.0,
        "context": context[0],
        "context_information": context[1],
        "title": context[2],
        "frames": _frames(query, item, base),
        "code_same": codes[0],
        "code_other": codes[1],
        "line_weight": line_weight,
        "salient_information": math.log1p(sum(base.idf(token) * query.bag.get(token, 0.0) for token in salient)),
        "phase": context[3],
        "lookalike": _lookalike(lookalike, matched / total),
        **_key_features(query, item, key, weights, set(weights), base),
    }
    return Comparison(features, places)


def _token_weights(item: Wording, base: Base, context: frozenset[str]) -> dict[str, float]:
    weights: dict[str, float] = {}
    for line in item.lines:
        for token in line.tokens:
            weight = line.weight * base.idf(token) * (SALIENT if token in context else VARIABLE if token in line.variable else 1.0)
            if CODE in token:
                weight *= 0.3 if token not in context else 1.0
            weights[token] = max(weights.get(token, 0.0), weight)
    return weights


def _coverage(query: Query, item: Wording, base: Base, context: frozenset[str]) -> float:
    weights = _token_weights(item, base, context)
    total = sum(weights.values())
    return sum(weight * query.bag.get(token, 0.0) for token, weight in weights.items()) / total if total else 0.0


def _lines_found(
    query: Query, item: Wording, weights: Mapping[str, float], base: Base
) -> tuple[float, float, float, dict[int, tuple[str, ...]], tuple[WordingLine, int] | None]:
    """How much of each symptom line stands together in one place of the input."""
    got = total = explained = best_weight = best_mass = 0.0
    places: dict[int, tuple[str, ...]] = {}
    key: tuple[WordingLine, int] | None = None
    for line in item.lines:
        mass = sum(weights[token] for token in line.tokens)
        if line.frame or not mass:
            continue
        total += mass
        position, share = _best_place(query, line, weights, mass)
        if position is None:
            continue
        got += mass * share
        place = query.lines[position]
        hit = tuple(token for token in line.tokens if token in place.tokens)
        places[place.index] = tuple(dict.fromkeys(places.get(place.index, ()) + hit))
        if mass * share > best_mass:
            best_mass, best_weight = mass * share, place.weight
            key = (line, position)
            explained = _explained(place.tokens, weights, set(weights), base)
    return (got / total if total else 0.0), explained, best_weight, places, key


def _best_place(query: Query, line: WordingLine, weights: Mapping[str, float], mass: float) -> tuple[int | None, float]:
    sums: dict[int, float] = {}
    for token in line.tokens:
        for position in query.holders.get(token, ()):
            sums[position] = sums.get(position, 0.0) + weights[token]
    if not sums:
        return None, 0.0
    best, best_sum = None, -1.0
    for position, value in sums.items():
        # a wrapped message continues on the next line
        joined = (value + 0.9 * _added(query, line, weights, position)) * query.lines[position].weight
        if joined > best_sum:
            best, best_sum = position, joined
    return best, min(1.0, best_sum / mass)


def _added(query: Query, line: WordingLine, weights: Mapping[str, float], position: int) -> float:
    if position + 1 >= len(query.lines):
        return 0.0
    here, below = query.lines[position].tokens, query.lines[position + 1].tokens
    return sum(weights[token] for token in line.tokens if token in below and token not in here)


def _explained(given: tuple[str, ...], weights: Mapping[str, float], known: set[str], base: Base) -> float:
    total = got = 0.0
    for token in given:
        if CODE in token and token not in weights:
            continue
        idf = base.idf(token)
        total += idf
        if token in weights:
            got += idf
        elif token in known:
            got += 0.6 * idf
    return got / total if total else 0.0


def _phrase(query: Query, item: Wording, base: Base) -> float:
    got = total = 0.0
    for line in item.lines:
        if line.frame:
            continue
        for pair in pairwise(line.words):
            weight = line.weight * (base.idf(pair[0]) + base.idf(pair[1]))
            total += weight
            got += weight * query.pairs.get(pair, 0.0)
    return got / total if total else 0.0


def _type_same(query: Query, item: Wording, base: Base) -> float:
    same = set(item.types) & set(query.types)
    return max((base.idf(name.lower()) for name in same), default=0.0) / 5.0


def _context(query: Query, profile: Profile, base: Base) -> tuple[float, float, float, float]:
    """Words of title, cause and fix in the input beyond the symptom's: their share and bits, the title's share, and whether the phase fits."""
    symptom = {token for item in profile.wordings for line in item.lines for token in line.tokens}
    beyond = [token for token in profile.context if token not in symptom]
    total = sum(base.idf(token) for token in beyond)
    got = sum(base.idf(token) * query.bag.get(token, 0.0) for token in beyond)
    title = sum(base.idf(token) for token in profile.title)
    told = sum(base.idf(token) * query.bag.get(token, 0.0) for token in profile.title)
    phase = PHASE_WORDS.get(query.report.failure.phase if query.report.failure else Phase.UNKNOWN, frozenset())
    return (got / total if total else 0.0), math.log1p(got), (told / title if title else 0.0), float(bool(phase & profile.context))


def _lookalike(coverage: float, own: float) -> float:
    """1 where the input is a text that the entry names as another fault; between 0 and 1 where it is nearer to that than to the symptom."""
    return 1.0 if coverage >= 0.95 and coverage >= own - 0.05 else max(0.0, min(1.0, 2.0 * (coverage - own)))


def _frames(query: Query, item: Wording, base: Base) -> float:
    tokens_ = {token for line in item.lines if line.frame for token in line.tokens if CODE not in token}
    total = sum(base.idf(token) for token in tokens_)
    return sum(base.idf(token) for token in tokens_ if token in query.frames) / total if total else 0.0


def _codes_compared(query: Query, item: Wording, base: Base, context: frozenset[str]) -> tuple[float, float]:
    """Bits of the codes that agree, and 1 where a code stands against another one."""
    same = 0.0
    other = False
    for line in item.lines:
        for token in line.tokens:
            word, mark, number = token.partition(CODE)
            if not mark or (word not in CODE_WORDS and token not in context):
                continue
            if token in query.bag:
                same += base.idf(token)
            elif word in query.codes:
                other = True
    return math.log1p(same), float(other)


def _key_features(query: Query, item: Wording, key: tuple[WordingLine, int] | None, weights: Mapping[str, float], known: set[str], base: Base) -> dict[str, float]:
    """The symptom line that was found best, word by word against its place: what is missing, what is too much, what is out of order."""
    if key is None:
        return {"key_missing": 1.0, "key_extra": 1.0, "key_extra_known": 1.0, "key_order": 0.0, "key_information": 0.0, "key_primary": 0.0, "key_in_order": 0.0, "key_worst": 1.0, "key_substituted": 0.0, "key_reordered": 0.0, "key_fallout": 0.0, "elsewhere": 1.0, "elsewhere_unexplained": 1.0}
    line, position = key
    place = query.lines[position]
    here = set(place.tokens)
    near = here | (set(query.lines[position + 1].tokens) if position + 1 < len(query.lines) else set())
    mass = sum(weights[token] for token in line.tokens) or 1.0
    given = [token for token in place.tokens if CODE not in token and (token in place.fixed or token in known)]
    total = sum(base.idf(token) for token in given) or 1.0
    extra = [token for token in given if token not in known]
    pairs = [pair for pair in pairwise(line.words) if pair[0] in near and pair[1] in near]
    kept = sum(pair in query.pairs for pair in pairs)
    elsewhere = float(bool(query.report.chain) and place.index not in query.report.chain)
    in_order, substituted, missing_words = _aligned(query, line, position, weights, known, base)
    return {
        "key_missing": sum(weights[token] for token in line.tokens if token not in near) / mass,
        "key_extra": sum(base.idf(token) for token in extra) / total,
        "key_extra_known": sum(base.idf(token) for token in extra if base.frequency.get(token)) / total,
        "key_order": kept / len(pairs) if pairs else 1.0,
        "key_information": math.log1p(sum(base.idf(token) for token in line.tokens if token in near)),
        "key_primary": float(place.index in query.report.primary),
        "key_in_order": in_order,
        "key_substituted": substituted,
        "key_reordered": max(0.0, 1.0 - in_order - missing_words),
        "key_worst": min(1.0, max((weights[token] for token in line.tokens if token not in near), default=0.0) / 8.0),
        "key_fallout": float(query.report.lines[place.index].kind is Kind.FALLOUT),
        "elsewhere": elsewhere,
        "elsewhere_unexplained": elsewhere * (1.0 - _explained(query.primary, weights, known, base)),
    }


def _aligned(
    query: Query, line: WordingLine, position: int, weights: Mapping[str, float], known: set[str], base: Base
) -> tuple[float, float, float]:
    """The symptom line against its place, word by word: shares by weight of what stands in the same order, was replaced, and is absent."""
    from rapidfuzz.distance import LCSseq

    place = query.lines[position]
    below = query.lines[position + 1] if position + 1 < len(query.lines) else None
    given = (place.words + below.words if below else place.words)[:400]
    fixed = place.fixed | below.fixed if below else place.fixed
    total = sum(weights.get(word, 0.0) for word in line.words)
    if not total:
        return 1.0, 0.0, 0.0
    kept = replaced = out = into = 0.0
    for block in LCSseq.opcodes(line.words, given):
        if block.tag == "equal":
            replaced += min(out, into) if kept else 0.0
            out = into = 0.0
            kept += sum(weights.get(word, 0.0) for word in line.words[block.src_start : block.src_end])
        elif block.tag == "insert":
            into += sum(base.idf(word) for word in given[block.dest_start : block.dest_end] if (word in fixed or word in known))
        else:
            out += sum(weights.get(word, 0.0) for word in line.words[block.src_start : block.src_end])
    replaced += min(out, into) if kept else 0.0
    absent = sum(weights.get(word, 0.0) for word in line.words if word not in given)
    return kept / total, replaced / total, absent / total

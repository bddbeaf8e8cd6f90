"""A report made ready once for many comparisons: its tokens with their weights, its lines, its pairs of words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, pairwise, zip_longest
from typing import NamedTuple

from kbtool.matching.profile import FRAMES, exception_types, line_tokens
from kbtool.matching.rephrasing import anchors_in, other_words, prepared
from kbtool.matching.report import Report, ReportLine
from kbtool.matching.signs import Kind
from kbtool.matching.tokens import CODE
from kbtool.matching.vocabulary import TRADE, TRADE_SYMBOLS

TROUBLE: frozenset[Kind] = frozenset({Kind.EXCEPTION, Kind.SIGN, Kind.FALLOUT, Kind.WRAPPER, Kind.TRACEBACK, Kind.FRAME})
"""Kinds of lines that a run without a failure doesn't print."""
COMPARED_LINES = 240
"""Lines of a report, the weightiest first, that are compared one by one."""
TELLING = 0.8
"""Weight from which on a line is a message that could be worded otherwise."""
PARAPHRASED = 0.6
"""Factor for what a line does not say itself, but another version or device would."""


class InputLine(NamedTuple):
    """A line of the report as it is compared; `at` is its place in the report."""

    at: int
    weight: float
    tokens: tuple[str, ...]
    words: tuple[str, ...]
    held: frozenset[str]
    """The tokens, to look one up."""
    paraphrase: str = ""
    """The text, where the line says the same in other words (`rephrasing`)."""


class Query(NamedTuple):
    """What of a report is compared."""

    report: Report
    bag: Mapping[str, float]
    """Token → weight of the weightiest line that holds it."""
    own: Mapping[str, float]
    """The same for what the report says itself, without what it could say in other words."""
    lines: tuple[InputLine, ...]
    """Those of the report in their order, then what they could say in other words."""
    below: tuple[InputLine | None, ...]
    """For each of `lines` the one after it; what another could say in other words has none, and is after none."""
    holders: Mapping[str, Sequence[int]]
    """Token → positions in `lines`."""
    primary: tuple[str, ...]
    """Tokens of the first real failure's message."""
    paraphrases: tuple[tuple[str, ...], ...]
    """Tokens of each text that this message could be in other words."""
    pairs: Mapping[tuple[str, str], float]
    """Consecutive words → weight of their line."""
    frames: frozenset[str]
    """Tokens of the frames that it shows."""
    types: tuple[str, ...]
    codes: frozenset[str]
    """Words that a number follows."""
    troubled: bool
    """The input shows a failure at all."""
    at_home: bool
    """The input speaks of deep learning, or shows where the threads of a Python process stand."""


def make_query(report: Report) -> Query:
    """Prepare a report for comparison."""
    own = [_input_line(index, line) for index, line in enumerate(report.lines) if line.weight > 0]
    rising = sorted(own, key=_weight)
    chosen = own if len(own) <= COMPARED_LINES else sorted(sorted(own, key=lambda line: -line.weight)[:COMPARED_LINES], key=lambda line: line.at)
    others = _in_other_words(report, chosen)
    said = _weights(own, rising)
    rising = sorted((*own, *others), key=_weight) if others else rising
    bag = _weights((*own, *others), rising) if others else said
    pairs: dict[tuple[str, str], float] = {}
    for line in rising:
        pairs.update(dict.fromkeys(pairwise(line.words), line.weight))
    primary = set(report.primary)
    of_failure = [line for line in others if line.at in primary]
    return Query(
        report=report,
        bag=bag,
        own=said,
        lines=(*chosen, *others),
        below=(*chosen[1:], *[None] * (len(others) + bool(chosen))),
        holders=_holders((*chosen, *others)),
        primary=tuple(dict.fromkeys(token for line in own if line.at in primary for token in line.tokens)),
        paraphrases=tuple(line.tokens for line in of_failure),
        pairs=pairs,
        frames=frozenset(token for line in own if report.lines[line.at].kind in FRAMES for token in line.tokens),
        types=exception_types(report) + tuple(filter(None, (prepared(line.paraphrase).type for line in of_failure))),
        codes=frozenset(token.partition(CODE)[0] for token in bag if CODE in token),
        troubled=any(line.kind in TROUBLE for line in report.lines),
        at_home=not TRADE.isdisjoint(bag) or any(_shows_trade(line) for line in report.lines),
    )


def _weight(line: InputLine) -> float:
    return line.weight


def _weights(lines: Iterable[InputLine], rising: Iterable[InputLine]) -> dict[str, float]:
    """Token → weight of the weightiest line, in the order of the lines; `rising` are the same lines, the weightiest last, which has the last word."""
    weights = dict.fromkeys(chain.from_iterable([line.tokens for line in lines]), 0.0)
    for line in rising:
        weights.update(dict.fromkeys(line.tokens, line.weight))
    return weights


def _shows_trade(line: ReportLine) -> bool:
    """True for where a thread stands, and for a name of torch's C++ libraries."""
    return line.kind is Kind.PLACE or ("_ZN" in line.text and any(symbol in line.text for symbol in TRADE_SYMBOLS))


def _input_line(index: int, line: ReportLine) -> InputLine:
    held, phrase = line_tokens(line)
    return InputLine(index, line.weight, tuple(dict.fromkeys(held)), tuple(phrase), frozenset(held))


def _in_other_words(report: Report, lines: Sequence[InputLine]) -> list[InputLine]:
    """What the messages among the lines could say as well; a text that is wrapped is recognised with the line after."""
    messages = [(line, report.lines[line.at].text, report.lines[below.at].text if below else "") for line, below in zip_longest(lines, lines[1:]) if line.weight >= TELLING]
    anchors = anchors_in("\n".join(f"{text}\n{after}" for _, text, after in messages))
    found: dict[str, InputLine] = {}
    for line, text, after in messages if anchors else ():
        for other in other_words(text, after, anchors):
            said = prepared(other)
            found.setdefault(other, InputLine(line.at, PARAPHRASED * line.weight, said.tokens, said.words, frozenset(said.tokens), other))
    return list(found.values())


def _holders(lines: Iterable[InputLine]) -> Mapping[str, Sequence[int]]:
    holders: dict[str, list[int]] = {}
    for position, line in enumerate(lines):
        for token in line.tokens:
            if token in holders:
                holders[token].append(position)
            else:
                holders[token] = [position]
    return holders

"""What an entry offers for comparison: its wordings line by line, and the words of its title, cause and fix.

A profile is made once, when an entry is indexed, and kept in the index as JSON, tokens in one text with blanks between them: a question
reads some ten profiles, and many short texts take longer to read than a few long ones.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import repeat
from typing import Any, NamedTuple

from kbtool.matching import signs
from kbtool.matching.report import Report, ReportLine, classified_lines
from kbtool.matching.signs import Kind
from kbtool.matching.tokens import CODE, CODE_WORDS, cut, fixed_text, token_set, tokens
from kbtool.model import Entry

WORDING_CAP = 24
"""Lines of one symptom fence that are compared."""
WORDINGS_CAP = 24
"""Fences of one entry that are compared."""

LINE_WEIGHTS: dict[Kind, float] = {
    Kind.BLANK: 0.0,
    Kind.ADVICE: 0.0,
    Kind.TRACEBACK: 0.0,
    Kind.CHAIN: 0.0,
    Kind.FRAME: 0.4,
    Kind.CODE: 0.4,
    Kind.FALLOUT: 0.7,
    Kind.LOG: 0.7,
}
"""How much a line of a symptom counts; those not named count fully."""
REMARK_WEIGHT = 0.4
"""A line in brackets is the author's remark, not output."""
_REMARK = re.compile(r"^\s*\(.*\)\s*$")
_PACKAGE = re.compile(r"(?:site|dist)-packages[/\\]")
_FRAME_TAIL = 3
FRAMES: frozenset[Kind] = frozenset({Kind.FRAME, Kind.PLACE})
"""Kinds of lines of which only library, file and function are compared."""

SALIENT = 1.6
"""Factor for tokens that the entry's own title, cause or fix names again."""
VARYING = 0.4
"""Factor for tokens that stand in quotes, brackets or paths and are not salient: they are another name in the next report."""
NUMBERED = 0.3
"""Factor for a word with a number behind it that is not salient."""

Factors = tuple[tuple[float, tuple[str, ...]], ...]
"""Tokens by the factor that what they tell in a base is taken by: of the line where it is highest."""


class WordingLine(NamedTuple):
    """One line of a symptom: its tokens, its phrase, its weight, and whether it is a frame."""

    tokens: tuple[str, ...]
    words: tuple[str, ...]
    weight: float
    frame: bool = False


class Wording(NamedTuple):
    """One symptom fence."""

    lines: tuple[WordingLine, ...]
    types: frozenset[str]
    """Exception types it names, without their modules."""
    salient: Factors
    """Its tokens that the entry's own title, cause or fix names again."""
    plain: Factors
    """Its other tokens."""


class Profile(NamedTuple):
    """What of an entry is compared with a report."""

    wordings: tuple[Wording, ...]
    lookalikes: tuple[Factors, ...]
    """From Not this, what is another fault: the tokens of its shape, which is what a text has whatever numbers, names and paths stand in it."""
    context: frozenset[str]
    """Tokens of title, root cause, fix and tags."""
    title: frozenset[str] = frozenset()

    def all_tokens(self) -> set[str]:
        """Every token by which the entry can be found."""
        return symptom_tokens(self) | self.context

    def weighed_tokens(self) -> list[Collection[str]]:
        """Every token that a comparison weighs, whether or not the report has it, in groups; of the context only those count that it has."""
        weighed = [*self.lookalikes, *[factors for item in self.wordings for factors in (item.salient, item.plain)]]
        return [self.title, *[held for factors in weighed for _, held in factors]]


def symptom_tokens(profile: Profile) -> set[str]:
    """The tokens of an entry's wordings: what two entries of the same fault have in common."""
    held: set[str] = set()
    return held.union(*[group for item in profile.wordings for _, group in (*item.salient, *item.plain)])


def frame_text(line: ReportLine | str) -> str:
    """What identifies a frame: library, file and function; not the folders above, which are somebody's home."""
    text = line if isinstance(line, str) else line.text
    found = signs.FRAME_LINE.match(text)
    if found is None:
        return text
    groups = {name.rstrip("0123456789"): value for name, value in found.groupdict().items() if value}
    path = groups.get("file", "")
    below = _PACKAGE.split(path)[-1] if _PACKAGE.search(path) else "/".join(re.split(r"[/\\]", path)[-_FRAME_TAIL + 1 :])
    return f"{below} {groups.get('name', '')}"


def line_text(line: ReportLine) -> str:
    """The part of a line that is compared."""
    return frame_text(line) if line.kind in FRAMES else line.text


def line_tokens(line: ReportLine) -> tuple[list[str], list[str]]:
    """The tokens of that part, with those of a name that a wrap had cut in two, and its words."""
    held, phrase = cut(line_text(line))
    return (held + tokens(line.mended) if line.mended else held), phrase


def exception_types(report: Report) -> tuple[str, ...]:
    """Exception types that a report names, in order, without modules and doubles."""
    return tuple(dict.fromkeys(_types(report.lines)))


def _types(lines: Iterable[ReportLine]) -> Iterator[str]:
    for line in lines:
        if line.kind is Kind.EXCEPTION:
            found = signs.exception_in(line.text)
            if found:
                yield signs.bare_type(found)


class _Line(NamedTuple):
    compared: WordingLine
    variable: frozenset[str]
    """Tokens that stand in quotes, brackets or paths only: what the message happened to be about."""


def _lines(classified: Iterable[ReportLine]) -> list[_Line]:
    lines: list[_Line] = []
    for line in classified:
        weight = REMARK_WEIGHT if _REMARK.match(line.text) else LINE_WEIGHTS.get(line.kind, 1.0)
        if weight and len(lines) < WORDING_CAP:
            held, phrase = line_tokens(line)
            frame = line.kind in (Kind.FRAME, Kind.CODE)
            variable: frozenset[str] = frozenset() if frame else _variable(line, held)
            lines.append(_Line(WordingLine(tuple(dict.fromkeys(held)), tuple(phrase), weight, frame), variable))
    return lines


def _variable(line: ReportLine, held: Sequence[str]) -> frozenset[str]:
    text = line_text(line)
    fixed = fixed_text(text)
    return frozenset(held).difference(token_set(fixed)) if line.mended or fixed != text else frozenset()


def _wording(classified: Iterable[ReportLine], lines: Sequence[_Line], context: frozenset[str]) -> Wording:
    """A symptom fence as it is compared, of an entry whose title, cause, fix and tags hold these tokens."""
    salient: dict[str, float] = {}
    plain: dict[str, float] = {}
    for line in lines:
        weight = line.compared.weight
        for token in line.compared.tokens:
            if token in context:
                factors, factor = salient, weight * SALIENT
            else:
                factors, factor = plain, weight * ((VARYING if token in line.variable else 1.0) * (NUMBERED if CODE in token else 1.0))
            if factor > factors.get(token, 0.0):
                factors[token] = factor
    return Wording(tuple(line.compared for line in lines), frozenset(_types(classified)), _factors(salient), _factors(plain))


def _shape(text: str) -> Factors:
    """A Not this fence as it is compared."""
    return _factors(
        {
            token: line.compared.weight
            for line in _lines(classified_lines(text))
            for token in line.compared.tokens
            if token not in line.variable and (CODE not in token or token.partition(CODE)[0] in CODE_WORDS)
        }
    )


def _factors(by_token: Mapping[str, float]) -> Factors:
    held: defaultdict[float, list[str]] = defaultdict(list)
    for token, factor in by_token.items():
        held[factor].append(token)
    return tuple((factor, tuple(group)) for factor, group in held.items())


def make_profiles(entries: Sequence[Entry]) -> list[Profile]:
    """The profiles of entries, each step taken for all of them before the next one, which is faster (`extract.read_part`)."""
    titles = [frozenset(token_set(entry.title)) for entry in entries]
    prose = [" \n".join((entry.root_cause, entry.fix, " ".join(entry.tags), entry.family or "")) for entry in entries]
    contexts = [title.union(token_set(text)) for title, text in zip(titles, prose, strict=True)]
    classified = [[classified_lines(text) for text in entry.symptoms[:WORDINGS_CAP]] for entry in entries]
    lines = [[_lines(fence) for fence in fences] for fences in classified]
    wordings = [tuple(map(_wording, fences, kept, repeat(context))) for fences, kept, context in zip(classified, lines, contexts, strict=True)]
    lookalikes = [tuple(map(_shape, entry.not_this[:WORDINGS_CAP])) for entry in entries]
    return list(map(Profile, wordings, lookalikes, contexts, titles))


def to_json(profile: Profile) -> str:
    """The profile as the index keeps it."""
    return encode(
        {
            "wordings": [
                [
                    [[_text(line.tokens), _text(line.words), line.weight, int(line.frame)] for line in item.lines],
                    _text(sorted(item.types)),
                    _texts(item.salient),
                    _texts(item.plain),
                ]
                for item in profile.wordings
            ],
            "lookalikes": [_texts(factors) for factors in profile.lookalikes],
            "context": _text(sorted(profile.context)),
            "title": _text(sorted(profile.title)),
        }
    )


encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
"""A value as JSON in the index."""


def _text(held: Iterable[str]) -> str:
    return " ".join(held)  # no token has a blank in it


def _texts(factors: Factors) -> list[tuple[float, str]]:
    return [(factor, _text(held)) for factor, held in factors]


def from_json(text: str) -> Profile:
    """The profile that `to_json` wrote; raises ValueError, TypeError, KeyError or AttributeError for anything else."""
    data = json.loads(text)
    return Profile(
        tuple([_read_wording(*values) for values in data["wordings"]]),
        tuple([_read_factors(values) for values in data["lookalikes"]]),
        frozenset(data["context"].split()),
        frozenset(data["title"].split()),
    )


def _read_wording(lines: list[Any], types: str, salient: list[Any], plain: list[Any]) -> Wording:
    read = [WordingLine(tuple(held.split()), tuple(phrase.split()), weight, bool(frame)) for held, phrase, weight, frame in lines]
    return Wording(tuple(read), frozenset(types.split()), _read_factors(salient), _read_factors(plain))


def _read_factors(values: list[Any]) -> Factors:
    return tuple([(factor, tuple(held.split())) for factor, held in values])

"""What an entry offers for comparison: its wordings line by line, and the words of its title, cause and fix.

A profile is made once, when an entry is indexed, and kept in the index as JSON.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from kbtool.matching import signs
from kbtool.matching.report import Report, ReportLine, classified_lines
from kbtool.matching.signs import Kind
from kbtool.matching.tokens import VARIABLE, cut, fixed_tokens, tokens
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


class WordingLine(NamedTuple):
    """One line of a symptom: its tokens, its phrase, its weight, and whether it is a frame."""

    tokens: tuple[str, ...]
    words: tuple[str, ...]
    weight: float
    frame: bool = False
    variable: frozenset[str] = frozenset()
    """Tokens that stand in quotes, brackets or paths only: what the message happened to be about."""


class Wording(NamedTuple):
    """One symptom fence."""

    lines: tuple[WordingLine, ...]
    types: tuple[str, ...]
    """Exception types it names, without their modules."""


class Profile(NamedTuple):
    """What of an entry is compared with a report."""

    wordings: tuple[Wording, ...]
    lookalikes: tuple[Wording, ...]
    """From Not this: what is another fault."""
    context: frozenset[str]
    """Tokens of title, root cause, fix and tags."""
    title: frozenset[str] = frozenset()

    def all_tokens(self) -> set[str]:
        """Every token by which the entry can be found."""
        return symptom_tokens(self) | self.context


def symptom_tokens(profile: Profile) -> set[str]:
    """The tokens of an entry's wordings: what two entries of the same fault have in common."""
    return {token for item in profile.wordings for line in item.lines for token in line.tokens}


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
    return _distinct_types(report.lines)


def _distinct_types(lines: Iterable[ReportLine]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(_types(lines)))


def _types(lines: Iterable[ReportLine]) -> Iterator[str]:
    for line in lines:
        if line.kind is Kind.EXCEPTION:
            found = signs.exception_in(line.text)
            if found:
                yield signs.bare_type(found)


def wording(text: str) -> Wording:
    """A symptom fence as it is compared."""
    classified = classified_lines(text)
    lines: list[WordingLine] = []
    for line in classified:
        weight = REMARK_WEIGHT if _REMARK.match(line.text) else LINE_WEIGHTS.get(line.kind, 1.0)
        if weight and len(lines) < WORDING_CAP:
            held, phrase = line_tokens(line)
            frame = line.kind in (Kind.FRAME, Kind.CODE)
            variable: frozenset[str] = frozenset() if frame else _variable(line, held)
            lines.append(WordingLine(tuple(dict.fromkeys(held)), tuple(phrase), weight, frame, variable))
    return Wording(tuple(lines), _distinct_types(classified))


def _variable(line: ReportLine, held: Sequence[str]) -> frozenset[str]:
    text = line_text(line)
    return frozenset(held) - fixed_tokens(text) if line.mended or VARIABLE.search(text) else frozenset()


def make_profile(entry: Entry) -> Profile:
    """The profile of an entry."""
    title = frozenset(tokens(entry.title))
    prose = " \n".join((entry.root_cause, entry.fix, " ".join(entry.tags), entry.family or ""))
    return Profile(
        tuple(wording(text) for text in entry.symptoms[:WORDINGS_CAP]),
        tuple(wording(text) for text in entry.not_this[:WORDINGS_CAP]),
        title.union(tokens(prose)),
        title,
    )


def to_json(profile: Profile) -> str:
    """The profile as the index keeps it."""
    return encode(
        {"wordings": _wordings(profile.wordings), "lookalikes": _wordings(profile.lookalikes), "context": sorted(profile.context), "title": sorted(profile.title)}
    )


encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
"""A value as JSON in the index."""


def _wordings(wordings: tuple[Wording, ...]) -> list[object]:
    return [[[[line.tokens, line.words, line.weight, int(line.frame), sorted(line.variable)] for line in item.lines], item.types] for item in wordings]


def from_json(text: str) -> Profile:
    """The profile that `to_json` wrote; raises ValueError or TypeError for anything else."""
    data = json.loads(text)
    return Profile(_read(data["wordings"]), _read(data["lookalikes"]), frozenset(data["context"]), frozenset(data["title"]))


def _read(items: list[Any]) -> tuple[Wording, ...]:
    return tuple(Wording(tuple(_read_line(line) for line in lines), tuple(types)) for lines, types in items)


def _read_line(values: list[Any]) -> WordingLine:
    held, phrase, weight, frame, variable = values
    return WordingLine(tuple(held), tuple(phrase), float(weight), bool(frame), frozenset(variable))

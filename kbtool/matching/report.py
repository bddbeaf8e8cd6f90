"""From the lines of an input to what it reports: cleaned lines with their kind and weight, the first real failure, the phase.

Prefixes, colours and progress bars come off, repeated lines count once, advice is cut out, wrapped names are mended, and what launchers
and other ranks say afterwards is told from the failure itself. Original line numbers stay with every line.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from kbtool.matching import prefixes, signs
from kbtool.matching.signs import Kind
from kbtool.matching.stream import RawLine, Reading, read_text
from kbtool.model import Failure, Phase
from kbtool.patterns import Pattern

_ANSI = Pattern(r"\x1b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\-_])|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\x80-\x9f\u200b\ufeff]")
_DIGITS = re.compile(r"\d\d*")  # not \d+, which is searched for more slowly
_BLOB = re.compile(r"([\w+/=])\1{49,}|[\w+/=]{200,}")
"""Data that was printed as text, or one character again and again: nobody reads it as words."""
_FIRST_NAME = re.compile(r"[\w.]+")
_LAST_NAME = re.compile(r"\w[\w.]*(?<!\.)$")
PLAIN_LENGTH = 400
"""Characters from which on such data is looked for in a line."""
MOST_LINES = 3000
"""Cleaned lines a report is made of."""
MESSAGE_LINES = 14
"""Lines that may belong to one exception's message."""
FRAME_LENGTH = 600
"""Characters that the line of a frame has at most; trying its shapes on a longer line takes time that grows with the square of its length."""
PLACES = 4
"""Innermost frames of a dumped stack that say where its thread stands."""

WEIGHTS: dict[Kind, float] = {
    Kind.BLANK: 0.0,
    Kind.ADVICE: 0.0,
    Kind.TRACEBACK: 0.0,
    Kind.CHAIN: 0.0,
    Kind.FALLOUT: 0.1,
    Kind.WRAPPER: 0.3,
    Kind.FRAME: 0.3,
    Kind.PLACE: 0.85,
    Kind.CODE: 0.05,
    Kind.EXCEPTION: 1.0,
    Kind.DETAIL: 0.85,
    Kind.SIGN: 0.85,
    Kind.WARNING: 0.55,
    Kind.LOG: 0.4,
    Kind.PROGRESS: 0.1,
    Kind.TEXT: 0.5,
}
"""How much a line of each kind counts as evidence; messages most, frames little, advice nothing."""
DEADLY, ALONE_DEADLY, ALONE_LATER = 0.6, 0.8, 0.25
"""Weights of fallout lines that name a deadly signal, beside another failure and without one; and of other fallout without one."""
LATER = 0.7
"""Factor for exceptions after the first failure and its chain."""


class ReportLine(NamedTuple):
    """A cleaned line: its number in the input, its kind, and its weight as evidence (0 to 1)."""

    number: int
    text: str
    kind: Kind
    weight: float
    rank: int | None = None
    mended: str = ""
    """The word that a wrap cut in two at the end of this line, put together again."""


class Report(NamedTuple):
    """What an input says. `primary` are indices into `lines`: the message of the first real failure."""

    lines: tuple[ReportLine, ...]
    primary: tuple[int, ...]
    chain: tuple[int, ...]
    """The messages of the failure and of what was raised from it or while it was handled; empty where no exception was seen."""
    failure: Failure | None
    truncated: bool = False


def report_text(text: str) -> Report:
    """The report of a text at hand."""
    return make_report(read_text(text))


def classified_lines(text: str) -> list[ReportLine]:
    """The cleaned lines of a text at hand with their kinds, before any is weighed."""
    return _classify(list(_cleaned(read_text(text).lines)))


def make_report(reading: Reading) -> Report:
    """The report of what was kept of an input."""
    lines = _classify(list(_cleaned(reading.lines)))
    primary = _primary(lines)
    weighted = _weigh(lines, primary)
    return Report(tuple(weighted), primary, _chain_lines(lines), _failure(weighted, primary), reading.truncated)


def _cleaned(raw: Iterable[RawLine]) -> Iterator[ReportLine]:
    segments = list(_segments(raw))
    known = prefixes.believed(text for _, text in segments[:400])
    seen: dict[str, int] = {}
    made = 0
    for number, text in segments:
        text, rank = prefixes.strip(text, known)
        text = signs.PROGRESS_BAR.sub("", text).rstrip()
        if len(text) > PLAIN_LENGTH:
            text = _BLOB.sub("…", text)
        shape = _DIGITS.sub("0", text)
        seen[shape] = count = seen.get(shape, 0) + 1
        if text.strip() and (count == 1 or (count <= 3 and text[0] in " \t")):
            made += 1
            yield ReportLine(number, text, Kind.TEXT, 0.0, rank)
        elif not text.strip():
            yield ReportLine(number, "", Kind.BLANK, 0.0, rank)
        if made >= MOST_LINES:
            return


def _segments(raw: Iterable[RawLine]) -> Iterator[tuple[int, str]]:
    """Lines without colours; of a line drawn over with carriage returns, every different state."""
    for line in raw:
        text = line.text.expandtabs(4) if "\t" in line.text else line.text
        if "\r" not in text:
            yield line.number, _plain(text)
            continue
        shown = ""
        for part in text.split("\r"):
            part = _plain(part)
            shape = _DIGITS.sub("0", signs.PROGRESS_BAR.sub("", part)).strip()
            if shape and shape != shown:
                shown = shape
                yield line.number, part


def _plain(text: str) -> str:
    """Without colours and control characters, which are what makes a line unprintable."""
    return text if text.isprintable() else _ANSI.sub("", text)


def _classify(lines: list[ReportLine]) -> list[ReportLine]:
    kinds: list[ReportLine] = []
    after_frame = False
    message_left = 0
    places_left = 0
    advice, fallout = signs.shapes_in("\n".join([line.text for line in lines]))
    for line in lines:
        text = signs.without_advice(line.text, advice)
        kind = _kind(text, line.text, after_frame, fallout)
        if kind in (Kind.TEXT, Kind.SIGN, Kind.WARNING) and message_left > 0:
            kind = Kind.DETAIL
        message_left = MESSAGE_LINES if kind is Kind.EXCEPTION else message_left - 1 if kind is Kind.DETAIL else 0
        places_left = PLACES if signs.STACK_HEADER.search(text) else places_left - 1 if kind is Kind.FRAME else 0
        if kind is Kind.FRAME and places_left >= 0:
            kind = Kind.PLACE
        after_frame = kind in (Kind.FRAME, Kind.PLACE)
        kinds.append(ReportLine(line.number, text if kind is Kind.CODE else text.strip(), kind, line.weight, line.rank))
    return _mended(kinds)


def _kind(text: str, original: str, after_frame: bool, fallout: Sequence[signs.Shape]) -> Kind:
    bare = text.strip(" \t│┃|╭╮╰╯─━═=*-_.")
    if not bare:
        return Kind.BLANK if not original.strip() or text == original else Kind.ADVICE
    if signs.TRACEBACK_LINE.match(text) or signs.STACK_HEADER.search(text):
        return Kind.TRACEBACK
    if signs.CHAIN_DIRECT in text or signs.CHAIN_HANDLING in text:
        return Kind.CHAIN
    if len(text) <= FRAME_LENGTH and signs.FRAME_LINE.match(text):
        return Kind.FRAME
    if signs.fallout_family(text, fallout):
        return Kind.FALLOUT
    if signs.WRAPPER_LINE.search(text):
        return Kind.WRAPPER
    return _plain_kind(text, after_frame)


def _plain_kind(text: str, after_frame: bool) -> Kind:
    if signs.EXCEPTION_LINE.match(text) or signs.DOTTED_EXCEPTION.match(text):
        return Kind.WARNING if "Warning:" in text[:80] else Kind.EXCEPTION
    if (after_frame and text[:1] == " ") or signs.CODE_LINE.match(text):
        return Kind.CODE
    if signs.EMBEDDED_EXCEPTION.search(text):
        return Kind.EXCEPTION
    if signs.WARNING_LINE.search(text):
        return Kind.SIGN if signs.is_sign(text) and "Warning" not in text else Kind.WARNING
    if signs.is_progress(text):
        return Kind.SIGN if signs.SICK_METRIC.search(text) else Kind.PROGRESS
    if signs.LOG_LINE.search(text):
        return Kind.LOG
    return Kind.SIGN if signs.is_sign(text) else Kind.TEXT


def _mended(lines: list[ReportLine]) -> list[ReportLine]:
    """Where a wrap may have cut a name in two, the line also carries the name put together."""
    for at in range(len(lines) - 1):
        here, below = lines[at].text, lines[at + 1].text
        if len(here) < 50 or not (here[-1].isalnum() or here[-1] == "_") or lines[at + 1].kind not in (Kind.TEXT, Kind.DETAIL, Kind.SIGN):
            continue
        head = _LAST_NAME.search(here)
        tail = _FIRST_NAME.match(below)
        if head and tail:
            lines[at] = lines[at]._replace(mended=head.group() + tail.group())
    return lines


def _primary(lines: list[ReportLine]) -> tuple[int, ...]:
    """Indices of the message that tells the first real failure, with the lines that continue it."""
    heads = [at for at, line in enumerate(lines) if line.kind is Kind.EXCEPTION]
    if not heads:
        deadly = [at for at, line in enumerate(lines) if line.kind is Kind.FALLOUT and signs.DEADLY_EXIT.search(line.text)]
        sign = [at for at, line in enumerate(lines) if line.kind in (Kind.SIGN, Kind.PLACE)]
        heads = sign[:1] or deadly[:1] or [at for at, line in enumerate(lines) if line.kind in (Kind.FALLOUT, Kind.WARNING, Kind.WRAPPER)][:1]
        return _with_message(lines, heads[0]) if heads else ()
    chain = _chain(lines, heads)
    chosen = chain[0]
    if len(chain) > 1 and _type_of(lines[chosen].text) in signs.DETAIL_TYPES:
        chosen = chain[-1]
    if signs.ECHO.search(lines[chosen].text):
        chosen = next((at for at, line in enumerate(lines) if line.kind in (Kind.SIGN, Kind.DETAIL) and signs.NATIVE_ASSERTION.search(line.text)), chosen)
    return _with_message(lines, chosen)


def _chain_lines(lines: list[ReportLine]) -> tuple[int, ...]:
    heads = [at for at, line in enumerate(lines) if line.kind is Kind.EXCEPTION]
    return tuple(at for head in (_chain(lines, heads) if heads else ()) for at in _with_message(lines, head))


def _chain(lines: list[ReportLine], heads: list[int]) -> list[int]:
    """The first exception and those that were raised from it or while it was handled."""
    chain = [heads[0]]
    for head in heads[1:]:
        between = lines[chain[-1] + 1 : head]
        # an exception that stands directly under another one's message is what that one reports
        if not any(line.kind is Kind.CHAIN for line in between) and any(line.kind is not Kind.DETAIL for line in between):
            break
        chain.append(head)
    return chain


def _with_message(lines: list[ReportLine], head: int) -> tuple[int, ...]:
    end = head + 1
    while end < len(lines) and lines[end].kind is Kind.DETAIL:
        end += 1
    return tuple(range(head, end))


def _type_of(text: str) -> str:
    found = signs.exception_in(text)
    return signs.bare_type(found) if found else ""


def _weigh(lines: list[ReportLine], primary: tuple[int, ...]) -> list[ReportLine]:
    alone = not any(line.kind in (Kind.EXCEPTION, Kind.SIGN, Kind.PLACE) for line in lines)
    heads = [at for at, line in enumerate(lines) if line.kind is Kind.EXCEPTION]
    chain = set(_chain(lines, heads)) if heads else set()
    weighted = []
    first = True
    family: str | None = None
    for at, line in enumerate(lines):
        weight = WEIGHTS[line.kind]
        if line.kind is Kind.EXCEPTION:
            first = at in chain
        if line.kind in (Kind.EXCEPTION, Kind.DETAIL) and not first:
            weight *= LATER
        if line.kind is Kind.FALLOUT:
            of = signs.fallout_family(line.text)
            family = of if family is None else family
            weight = _fallout_weight(line.text, alone, of == family)
        if at not in primary and line.kind is Kind.EXCEPTION and signs.ECHO.search(line.text):
            weight = WEIGHTS[Kind.WRAPPER]
        weighted.append(ReportLine(line.number, line.text, line.kind, 1.0 if at in primary else weight, line.rank, line.mended))
    return weighted


def _fallout_weight(text: str, alone: bool, first_family: bool) -> float:
    """Where nothing else tells of a failure, what the first one to complain says counts like a sign; a line that names a signal counts anyway."""
    if alone and first_family:
        return WEIGHTS[Kind.SIGN]
    if signs.DEADLY_EXIT.search(text):
        return ALONE_DEADLY if alone else DEADLY
    return ALONE_LATER if alone else WEIGHTS[Kind.FALLOUT]


def _failure(lines: list[ReportLine], primary: tuple[int, ...]) -> Failure | None:
    if not primary:
        return None
    head = lines[primary[0]]
    found = signs.exception_in(head.text)
    kind = found["type"] if found else ""
    message = (found["message"] or "") if found else head.text
    excerpt = "\n".join(lines[at].text for at in primary)
    return Failure(kind, message.strip(), _phase(lines, primary[0], kind), head.rank, head.number, excerpt[:2000])


def _phase(lines: list[ReportLine], head: int, kind: str) -> Phase:
    if kind.rsplit(".", 1)[-1] in signs.IMPORT_TYPES:
        return Phase.IMPORT
    for at in range(head - 1, max(-1, head - 120), -1):
        if lines[at].kind in (Kind.TRACEBACK, Kind.EXCEPTION):
            break
        if lines[at].kind is Kind.FRAME:
            phase = signs.phase_of(lines[at].text)
            if phase is not None:
                return phase
    return Phase.UNKNOWN

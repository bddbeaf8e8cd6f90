"""The words that make a line worth its neighbourhood, and which of their occurrences are news.

A log of gigabytes may hold millions of alarming lines. The first of every word are news; after that only a word in new company is
("Value" before "error", then "Runtime"), so that a flood of one kind of complaint neither hides another kind nor costs much time.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import IntEnum
from typing import NamedTuple

from kbtool.matching.literal_search import contains


def _folded(byte: int) -> int:
    if byte > 0x7F or chr(byte) == "\n":
        return byte
    character = chr(byte)
    return ord("\n" if character == "\r" else "0" if character.isdigit() else character.lower() if character.isalpha() else " ")


FOLD = bytes(map(_folded, range(256)))
"""How text is looked at: lower case, every digit a zero, punctuation blank, a carriage return ends a line. No byte comes or goes, so places stay, and no NUL stays."""

GRAVE: tuple[str, ...] = ("traceback", "error  ", "exception  ", "terminate called", "assertion", "segmentation", "panic", "out of memory")
"""Words, folded, of lines that tell why a program ends; two blanks are what a colon and its space become."""

ALARMS: tuple[str, ...] = (
    *("error", "exception", "fatal", "failed", "killed", "abort", "assert", "signal", "timed out", "timeout", "warn", "annot ", "not found"),
    *("错误", "失败", "不足"),
)
"""Words, folded, of lines that tell of trouble."""

FIRST = 60
"""Lines of different shapes that are news for each word, before only new company counts."""
COMPANY = 100
"""Different words before a grave word that are news."""
COMPANY_LETTERS = 5
"""Letters at the end of such a word that tell it from others."""
LOOKED_AT = 4 * FIRST
"""Occurrences in one block that are looked at one by one."""
LINE_REACH = 256
"""Bytes before and after a word that count as its line's shape."""


class News(IntEnum):
    """How much an alarming place counts."""

    ALARM = 0
    GRAVE = 1
    """A grave word, among its first lines."""
    COMPANY = 2
    """A grave word after a word that it was not seen after before."""


class Sighting(NamedTuple):
    """An alarming place: its position in the text that was looked at, the word, and how much it counts."""

    at: int
    word: str
    news: News


class Watch:
    """Looks for alarms in one text after another, and remembers which were seen."""

    def __init__(self) -> None:
        self._live = [_Word(word, grave=True) for word in GRAVE] + [_Word(word, grave=False) for word in ALARMS]
        self._shapes: set[bytes] = set()

    def sight(self, folded: bytes) -> list[Sighting]:
        """What is news in a folded text, in the order of the text."""
        found: dict[int, Sighting] = {}
        plain = folded.isascii()
        for word in self._live:
            if (plain and not word.plain) or not contains(folded, word.literal):
                continue
            for sighting in word.news(folded, self._shapes):
                if sighting.at not in found or found[sighting.at].news < sighting.news:
                    found[sighting.at] = sighting
        self._live = [word for word in self._live if not word.spent]
        return [found[at] for at in sorted(found)]


class _Word:
    """One alarming word with what was seen of it."""

    def __init__(self, text: str, *, grave: bool) -> None:
        self.text = text
        self.literal = text.encode()
        self.plain = text.isascii()
        self._grave = grave
        self._left = FIRST
        self._company: set[bytes] = set()

    @property
    def spent(self) -> bool:
        """True where nothing of it can be news any more."""
        return self._left == 0 and (not self._grave or len(self._company) >= COMPANY)

    def news(self, folded: bytes, shapes: set[bytes]) -> Iterator[Sighting]:
        """The places that are news; `shapes` are the alarming lines that were, whatever their word."""
        if self._left:
            yield from self._first(folded, shapes)
        if self._grave and len(self._company) < COMPANY:
            yield from self._in_new_company(folded)

    def _first(self, folded: bytes, shapes: set[bytes]) -> Iterator[Sighting]:
        at = folded.find(self.literal)
        for _ in range(LOOKED_AT):
            if at < 0 or not self._left:
                return
            shape = _line_around(folded, at)
            if shape not in shapes:
                shapes.add(shape)
                self._left -= 1
                yield Sighting(at, self.text, News.GRAVE if self._grave else News.ALARM)
            at = folded.find(self.literal, at + len(self.literal))

    def _in_new_company(self, folded: bytes) -> Iterator[Sighting]:
        tails = {part[-COMPANY_LETTERS:] for part in folded.split(self.literal)[:-1]}
        companies = {tail.replace(b"\n", b" ").rpartition(b" ")[2] for tail in tails} - self._company
        if not companies:
            return
        flat = folded.replace(b"\n", b" ")
        for company in sorted(companies)[: COMPANY - len(self._company)]:
            self._company.add(company)
            at = flat.find((b"" if len(company) == COMPANY_LETTERS else b" ") + company + self.literal)
            yield Sighting(flat.find(self.literal, max(at, 0)), self.text, News.COMPANY)


def _line_around(folded: bytes, at: int) -> bytes:
    start = folded.rfind(b"\n", max(0, at - LINE_REACH), at) + 1 or max(0, at - LINE_REACH)
    end = folded.find(b"\n", at, at + LINE_REACH)
    return folded[start : end if end >= 0 else at + LINE_REACH]

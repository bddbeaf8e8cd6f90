"""What is kept of a large input, and the room there is for it.

Room is counted in lines, since a report is made of so many; a long line takes the room of several. Of lines that differ in digits only a few
stay, since a report counts them once.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from kbtool.matching.alarms import ALARMS, FOLD, GRAVE, News, Sighting
from kbtool.matching.stream import KEPT_LINE

PIECES = 8
"""Pieces that are kept of a long line which is at hand as a whole."""
LINE_ROOM = 256
"""Bytes that take one line's room."""
ALARM_ROOM, GRAVE_ROOM, NOVEL_ROOM = 600, 1200, 400
"""Lines that are kept for each kind of reason; with beginning, end and reserves no more than a report takes."""
RESERVE = 60
"""Lines held back for each grave word in new company, however much came before."""
SAME = 3
"""Lines of one shape that are kept."""

_WORDS = tuple(word.encode() for word in (*GRAVE, *ALARMS))

KeptLine = tuple[int, bytes]
"""The number of a line in the input, counted from 1, and what is kept of it."""


class Passage(NamedTuple):
    """A part of the input: where it begins and the number of its first line."""

    text: bytes
    place: int
    number: int


@dataclass
class Room:
    """How many lines may still be kept for a reason."""

    lines: int

    def take(self, line: bytes) -> bool:
        """Make room for a line; False where there is none left."""
        if self.lines <= 0:
            return False
        self.lines -= 1 + len(line) // LINE_ROOM
        return True


@dataclass
class Retention:
    """The lines that were kept so far."""

    novel: Room = field(default_factory=lambda: Room(NOVEL_ROOM))
    _kept: dict[int, KeptLine] = field(default_factory=dict)
    """By the place in the input where they begin."""
    _same: dict[bytes, int] = field(default_factory=dict)
    _cut_until: int = 0
    """The place where the last piece of a long line ends."""
    _alarms: Room = field(default_factory=lambda: Room(ALARM_ROOM))
    _graves: Room = field(default_factory=lambda: Room(GRAVE_ROOM))
    _reserves: dict[str, Room] = field(default_factory=lambda: {word: Room(RESERVE) for word in GRAVE})

    def lines(self) -> list[KeptLine]:
        """Everything that was kept, in the order of the input."""
        return [self._kept[place] for place in sorted(self._kept)]

    def room_for(self, sighting: Sighting) -> Room:
        """Where the neighbourhood of an alarming place belongs."""
        if sighting.news is News.ALARM:
            return self._alarms
        own = self._reserves[sighting.word]
        return own if sighting.news is News.COMPANY and own.lines > self._graves.lines else self._graves

    def keep(self, place: int, number: int, line: bytes, room: Room) -> None:
        """Keep one line, unless it is kept already, is the like of some that are, or finds no room."""
        if place in self._kept:
            return
        shape = line[:LINE_ROOM].translate(FOLD)
        same = self._same.get(shape, 0)
        if (same < SAME or not shape.strip()) and room.take(line):
            self._same[shape] = same + 1
            self._kept[place] = number, line

    def keep_lines(self, passage: Passage, start: int, end: int, number: int, room: Room) -> None:
        """Keep the lines of a part of a passage; `number` is the first one's."""
        for line in passage.text[start:end].split(b"\n") if start < end else ():
            self.keep(passage.place + start, number, line[:KEPT_LINE], room)
            start += len(line) + 1
            number += 1

    def keep_line(self, passage: Passage, at: int, span: tuple[int, int], number: int, room: Room) -> None:
        """Keep the line that fills the span; of a long one a piece around `at`."""
        start, end = span
        if end - start > KEPT_LINE:
            start = max(start, at - KEPT_LINE // 4, self._cut_until - passage.place)
            end = min(end, at + KEPT_LINE * 3 // 4)
            if start > at:
                return
            self._cut_until = passage.place + end
        self.keep(passage.place + start, number, passage.text[start:end], room)

    def keep_beginning(self, passage: Passage, lines: int) -> None:
        """Keep the first lines of a passage, whatever they are."""
        start = 0
        for number, line in enumerate(passage.text[: lines * KEPT_LINE].removesuffix(b"\n").split(b"\n", lines)[:lines], passage.number):
            self._kept[passage.place + start] = number, line[:KEPT_LINE]
            start += len(line) + 1

    def keep_end(self, passage: Passage, lines: int) -> None:
        """Keep the last lines of a passage, whatever they are."""
        number = passage.number + passage.text.count(b"\n")
        end = len(passage.text)
        for _ in range(lines):
            start = passage.text.rfind(b"\n", 0, end) + 1
            if start < end:
                self._kept.setdefault(passage.place + max(start, end - KEPT_LINE), (number, passage.text[max(start, end - KEPT_LINE) : end]))
            if not start:
                return
            end = start - 1
            number -= 1


def pieces(line: bytes) -> list[bytes]:
    """A line; of a long one its beginning, its end and what stands around its alarms."""
    if len(line) <= KEPT_LINE:
        return [line]
    folded = line.translate(FOLD)
    spans = [(0, KEPT_LINE // 2)]
    for word in _WORDS:
        at = folded.find(word)
        while at >= 0 and len(spans) < PIECES:
            if not any(start <= at < end for start, end in spans):
                spans.append((max(0, at - KEPT_LINE // 4), at + KEPT_LINE * 3 // 4))
            at = folded.find(word, at + KEPT_LINE // 4)
    spans.append((len(line) - KEPT_LINE // 2, len(line)))
    return [line[start:end] for start, end in sorted(spans)]

"""Decides what of a large input stays: its beginning and end, the neighbourhood of alarms, lines of a new shape.

Blocks are looked at folded, and a place in the folded text is a place in the block, so that only what is kept is ever taken apart into
lines. Nothing here grows with the input, and no regular expression sees it.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from kbtool.matching.alarms import FOLD, Sighting, Watch
from kbtool.matching.retention import LINE_ROOM, KeptLine, Passage, Retention, Room
from kbtool.matching.shapes import ShapeMemory, starts
from kbtool.matching.stream import BLOCK, KEPT_LINE

LINE_CAP = 64 << 10
"""Bytes without a newline from which on a line is looked at before its end has come."""
OVERLAP = 1024
"""Bytes of such a line that are looked at again with what follows, so that no word is cut in two."""
HEAD, TAIL = 60, 240
"""Lines kept at the beginning and at the end."""
SHORT_LINES = 16
"""Bytes a line of a block below which its lines are not told apart: there are too many, and too little in them."""
CONTEXT = 60
"""Lines kept before and after an alarming one: causes stand some 30 to 60 lines above, or follow the traceback."""
SHARE = 10
"""A neighbourhood takes at most one part in so many of the room left, to each side, so that there is always some for the next."""


@dataclass
class Keeper:
    """Takes text piece by piece and keeps what matters of it."""

    kept: Retention = field(default_factory=Retention)
    _carry: bytes = b""
    """The unfinished last line."""
    _past: bytes = b""
    """What came before the block at hand, as much as a neighbourhood may need."""
    _place: int = 0
    """Bytes before the block at hand."""
    _newlines: int = 0
    """Newlines in them."""
    _owed: int = 0
    """Lines still to keep after the last alarming one."""
    _owed_room: Room = field(default_factory=lambda: Room(0))
    _watch: Watch = field(default_factory=Watch)
    _memory: ShapeMemory = field(default_factory=ShapeMemory)

    def feed(self, text: bytes) -> None:
        """Look at the next part of the text; best in parts of `BLOCK` bytes."""
        text = self._carry + text
        end = text.rfind(b"\n") + 1
        if not end and len(text) > LINE_CAP:
            end = len(text) - OVERLAP
        self._carry = text[end:]
        if end:
            self._look(text[:end])

    def finish(self) -> list[KeptLine]:
        """Everything that was kept, in the order of the input."""
        if self._carry:
            self._look(self._carry)
        self.kept.keep_end(self._passage(b""), TAIL)
        return self.kept.lines()

    def _look(self, block: bytes) -> None:
        newlines = block.count(b"\n")
        here = Passage(block, self._place, self._newlines + 1)
        if not self._place:
            self.kept.keep_beginning(here, HEAD)
        if self._owed:
            self._keep_owed(here)
        sightings = self._news(here, newlines)
        if sightings:
            self._keep_sighted(self._passage(block), sightings)
        self._place += len(block)
        self._newlines += newlines
        self._past = block if len(block) >= BLOCK // 2 else (self._past + block)[-BLOCK:]

    def _passage(self, block: bytes) -> Passage:
        """The block with what came before it."""
        return Passage(self._past + block, self._place - len(self._past), self._newlines - self._past.count(b"\n") + 1)

    def _news(self, here: Passage, newlines: int) -> list[Sighting]:
        """The alarming places of the block that are news; lines of new shapes are kept on the way."""
        folded = here.text.translate(FOLD)
        if newlines * SHORT_LINES > len(folded) or self._memory.resting():
            return self._watch.sight(folded)
        lines = folded.split(b"\n")
        fresh = self._memory.fresh(lines)
        if not fresh:
            return []
        self._keep_novel(here, starts(lines, fresh[: max(0, self.kept.novel.lines)]))
        if self._memory.wild:
            return self._watch.sight(folded)
        return _moved(self._watch.sight(b"\n".join(fresh)), fresh, lines)

    def _keep_novel(self, here: Passage, places: dict[bytes, int]) -> None:
        number, before = here.number, 0
        for shape, at in places.items():
            number += here.text.count(b"\n", before, at)
            before = at
            if shape.strip():
                self.kept.keep(here.place + at, number, here.text[at : at + min(len(shape), KEPT_LINE)], self.kept.novel)

    def _keep_sighted(self, passage: Passage, sightings: list[Sighting]) -> None:
        number, before = passage.number, 0
        for sighting in sightings:
            at = len(self._past) + sighting.at
            number += passage.text.count(b"\n", before, at)
            before = at
            self._keep_around(passage, at, number, self.kept.room_for(sighting))

    def _keep_around(self, passage: Passage, at: int, number: int, room: Room) -> None:
        """Keep the lines around a place; those that are still to come are owed."""
        text = passage.text
        line_start = text.rfind(b"\n", max(0, at - LINE_CAP), at) + 1 or max(0, at - LINE_CAP)
        line_end = text.find(b"\n", at, at + LINE_CAP)
        line_end = min(len(text), at + LINE_CAP) if line_end < 0 else line_end
        if line_end - line_start > LINE_CAP:
            self.kept.keep_line(passage, at, (line_start, line_end), number, room)
            return
        context = min(CONTEXT, max(0, room.lines) // SHARE)
        start = _up(text, line_start, context, line_start - context * LINE_ROOM)
        end, missing = _down(text, line_end, context, line_end + context * LINE_ROOM)
        self.kept.keep_lines(passage, start, line_start - 1, number - text.count(b"\n", start, line_start), room)
        self.kept.keep_line(passage, at, (line_start, line_end), number, room)
        self.kept.keep_lines(passage, line_end + 1, end, number + 1, room)
        if missing:
            self._owed, self._owed_room = missing, room

    def _keep_owed(self, here: Passage) -> None:
        end, missing = _down(here.text, -1, self._owed, self._owed * LINE_ROOM)
        self.kept.keep_lines(here, 0, end, here.number, self._owed_room)
        self._owed = missing


def _up(text: bytes, at: int, lines: int, least: int) -> int:
    """Where the line begins that stands so many above the one that begins at `at`; no further up than `least`."""
    least = max(0, least)
    for _ in range(lines):
        newline = text.rfind(b"\n", least, max(0, at - 1))
        if newline < 0:
            return least
        at = newline + 1
    return at


def _down(text: bytes, at: int, lines: int, most: int) -> tuple[int, int]:
    """Where the line ends that stands so many below the one that ends at `at`, no further down than `most`; and how many are still to come."""
    for left in range(lines, 0, -1):
        newline = text.find(b"\n", at + 1, most)
        if newline < 0:
            return (most, 0) if most < len(text) else (len(text) - text.endswith(b"\n"), left)
        at = newline
    return at, 0


def _moved(sightings: list[Sighting], shapes: list[bytes], lines: list[bytes]) -> list[Sighting]:
    """Sightings in the joined shapes, moved to the places where these lines stand first."""
    if not sightings:
        return []
    places = starts(lines, shapes)
    moved, begin, rest = [], 0, iter(shapes)
    shape = next(rest)
    for sighting in sightings:
        while sighting.at > begin + len(shape):
            begin += len(shape) + 1
            shape = next(rest)
        moved.append(sighting._replace(at=places[shape] + sighting.at - begin))
    return sorted(moved)

"""Reading any input in bounded memory: what a report can be made of is kept, the rest is only looked at.

A small input is kept whole. From a large one stay: its beginning and end, the neighbourhood of every line that says something
alarming, and lines of a new shape as long as there is room. Lines whose shape (digits masked) was seen before are a log's steady
beat and are never looked at twice, which is also what makes reading fast: translate, split and set difference run in C.
Nothing here grows with the input, and no regular expression sees the stream.
"""

from __future__ import annotations

import codecs
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

CHUNK = 1 << 20
"""Bytes a read."""
LINE_CAP = 64 << 10
"""Bytes of a line that are looked at as one; a longer line is taken in pieces of this size."""
WHOLE = 256 << 10
"""Inputs up to this size are kept whole."""
KEPT_LINE = 4096
"""Bytes of a line that are kept; of a longer one those around its first alarming word."""
HEAD, TAIL = 60, 240
"""Lines kept at the beginning and at the end of a large input."""
BEFORE, AFTER = 60, 60
"""Lines kept before and after an alarming one: causes stand some 30 to 60 lines above, or follow the traceback."""
ALARMS_CAP = 300
"""Alarming lines whose surroundings are kept; the earliest count, and the end of the input is kept anyway."""
GRAVE_CAP = 200
"""The same for grave ones, counted apart: a flood of warnings must not hide the one traceback."""
KEPT_CAP = 12 << 20
"""Bytes kept in all."""
NOVEL_CAP = 1500
"""Lines kept for their new shape alone."""
SHAPE_CAP = 512
"""Bytes of a shape that is worth remembering; longer lines hardly repeat."""
SHAPES_CAP = 40_000
"""Shapes remembered before the memory of them starts anew."""

ALARMS: tuple[bytes, ...] = (
    b"Traceback (",
    b"rror",
    b"xception",
    b"ERROR",
    b"FATAL",
    b"atal",
    b"ailed",
    b"FAILED",
    b"illed",
    b"bort",
    b"ssert",
    b"signal",
    b"imed out",
    b"imeout",
    b"WARN",
    b"Warning",
    b"annot ",
    b"not found",
    b"out of memory",
    "错误".encode(),
    "失败".encode(),
    "不足".encode(),
)
"""Literals that make a line worth its neighbourhood; cut at the front so that both spellings of the first letter count."""

GRAVE: tuple[bytes, ...] = (b"Traceback (", b"Error: ", b"terminate called", b"Assertion", b"Segmentation", b"panic")
"""Literals of lines that end a program."""

_MASK = bytes.maketrans(b"0123456789", b"0000000000")


class ByteStream(Protocol):
    """Anything that reads bytes: a file, a pipe, `sys.stdin.buffer`."""

    def read(self, size: int, /) -> bytes: ...


class RawLine(NamedTuple):
    """One kept line of the input; `number` counts from 1 and is what an editor shows."""

    number: int
    text: str


class Reading(NamedTuple):
    """What was kept of an input: `lines` in order; `truncated` when others were only looked at."""

    lines: tuple[RawLine, ...]
    truncated: bool
    size: int
    """Bytes read."""


def read_text(text: str) -> Reading:
    """The reading of a text at hand."""
    return read_chunks([text.encode("utf-8", "surrogateescape")])


def read_stream(
    stream: ByteStream,
    *,
    tee: Callable[[bytes], object] | None = None,
    progress: Callable[[int], object] | None = None,
) -> Reading:
    """Read `stream` to its end; `tee` gets every chunk as it came, `progress` the number of bytes read so far."""
    return read_chunks(_chunks(stream, tee, progress))


def _chunks(stream: ByteStream, tee: Callable[[bytes], object] | None, progress: Callable[[int], object] | None) -> Iterator[bytes]:
    # read1 gives what a pipe holds now, so that --tee passes a slow job's lines on at once
    read = getattr(stream, "read1", stream.read)
    size = 0
    while chunk := read(CHUNK):
        size += len(chunk)
        if tee is not None:
            tee(chunk)
        if progress is not None:
            progress(size)
        yield chunk


def read_chunks(chunks: Iterable[bytes]) -> Reading:
    """The reading of an input that comes in pieces of any size."""
    keeper = _Keeper()
    size = 0
    whole: list[bytes] | None = []
    for chunk in chunks:
        size += len(chunk)
        if whole is not None:
            whole.append(chunk)
            if size <= WHOLE:
                continue
            chunk, whole = b"".join(whole), None
        keeper.feed(chunk)
    if whole is not None:
        return Reading(_all_lines(b"".join(whole)), truncated=False, size=size)
    return Reading(keeper.finish(), truncated=True, size=size)


def _all_lines(data: bytes) -> tuple[RawLine, ...]:
    decoder = _Decoder()
    lines = (decoder.feed(data) + decoder.rest()).split(b"\n")
    if lines and not lines[-1]:
        lines.pop()
    kept: list[RawLine] = []
    for number, line in enumerate(lines, 1):
        kept += [RawLine(number, _text(piece)) for piece in _pieces(line)]
    return tuple(kept)


class _Decoder:
    """Brings any encoding to UTF-8 bytes without NULs; UTF-16 is known by its byte order mark or by the NULs of its ASCII."""

    def __init__(self) -> None:
        self._wide: codecs.IncrementalDecoder | None = None
        self._begun = False

    def feed(self, chunk: bytes) -> bytes:
        if not self._begun and chunk:
            self._begun = True
            name = _wide_encoding(chunk[:4096])
            self._wide = codecs.getincrementaldecoder(name)("replace") if name else None
            chunk = chunk.removeprefix(codecs.BOM_UTF8)
        if self._wide is not None:
            chunk = self._wide.decode(chunk).encode("utf-8", "replace")
        return chunk.translate(None, b"\0") if b"\0" in chunk else chunk

    def rest(self) -> bytes:
        return self._wide.decode(b"", True).encode("utf-8", "replace") if self._wide is not None else b""


def _wide_encoding(start: bytes) -> str | None:
    if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    half = len(start) // 2
    if half >= 8 and start[1::2].count(0) > 0.7 * half and start[::2].count(0) < 0.1 * half:
        return "utf-16-le"
    if half >= 8 and start[::2].count(0) > 0.7 * half and start[1::2].count(0) < 0.1 * half:
        return "utf-16-be"
    return None


def _pieces(line: bytes) -> Iterator[bytes]:
    if len(line) <= LINE_CAP:
        yield line
        return
    for bar in line.split(b"\r") if b"\r" in line else (line,):
        for start in range(0, len(bar), LINE_CAP):
            yield bar[start : start + LINE_CAP]


def _text(line: bytes) -> str:
    if len(line) > KEPT_LINE:
        line = _around_alarm(line.strip())
    return line.decode("utf-8", "replace")


@dataclass
class _Keeper:
    """Decides line by line what of a large input stays."""

    decoder: _Decoder = field(default_factory=_Decoder)
    carry: bytes = b""
    number: int = 0
    """Complete lines before `carry`."""
    kept: dict[tuple[int, int], bytes] = field(default_factory=dict)
    """(line, piece) → bytes."""
    seen: set[bytes] = field(default_factory=set)
    recent: deque[tuple[tuple[int, int], bytes]] = field(default_factory=lambda: deque(maxlen=TAIL))
    owed: int = 0
    """Lines still to keep after the last alarming one."""
    alarms: int = 0
    graves: int = 0
    kept_bytes: int = 0
    novel: int = 0
    piece: int = 0

    def feed(self, chunk: bytes) -> None:
        for start in range(0, len(chunk), CHUNK):
            self._block(self.decoder.feed(chunk[start : start + CHUNK]))

    def finish(self) -> tuple[RawLine, ...]:
        last = self.carry + self.decoder.rest()
        self.carry = b""
        if last:
            self._lines([last])
        self.kept.update(self.recent)
        return tuple(RawLine(number, _text(self.kept[number, piece])) for number, piece in sorted(self.kept))

    def _block(self, block: bytes) -> None:
        lines = (self.carry + block).split(b"\n")
        self.carry = lines.pop()
        self._lines(lines)
        if len(self.carry) > LINE_CAP:
            # an endless line is looked at while it comes; its pieces share one number
            *pieces, self.carry = _pieces(self.carry)
            self.piece += len(pieces)
            self._visit(pieces, [(self.number + 1, self.piece - len(pieces) + index) for index in range(len(pieces))])

    def _lines(self, lines: list[bytes]) -> None:
        if not lines:
            return
        if len(max(lines, key=len)) > LINE_CAP or self.piece:
            self._long_lines(lines)
        else:
            first = self.number + 1
            self._visit(lines, [(number, 0) for number in range(first, first + len(lines))])
        self.number += len(lines)
        self.piece = 0

    def _long_lines(self, lines: list[bytes]) -> None:
        places, pieces = [], []
        for number, line in enumerate(lines, self.number + 1):
            offset = self.piece if number == self.number + 1 else 0
            for index, piece in enumerate(_pieces(line)):
                places.append((number, offset + index))
                pieces.append(piece)
        self._visit(pieces, places)

    def _visit(self, lines: list[bytes], places: list[tuple[int, int]]) -> None:
        shapes = b"\n".join(lines).translate(_MASK).split(b"\n")
        fresh = set(shapes) - self.seen
        self._remember(fresh)
        # pieces of an endless line never repeat, so only the few grave words are sought in them
        alarming = _containing(fresh, ALARMS) if self.alarms < ALARMS_CAP and not self.piece else set()
        grave = _containing(fresh, GRAVE) if self.graves < GRAVE_CAP else set()
        if self.number == 0:
            self._keep(lines, places, 0, min(HEAD, len(lines)))
        if fresh and (alarming or grave or self.novel < NOVEL_CAP):
            self._select(lines, places, shapes, fresh, alarming, grave)
        elif self.owed:
            self._keep_owed(lines, places, 0, len(lines))
        self.recent.extend(zip(places[-TAIL:], lines[-TAIL:], strict=True))

    def _remember(self, fresh: set[bytes]) -> None:
        if len(self.seen) + len(fresh) > SHAPES_CAP:
            self.seen.clear()
        if len(fresh) <= SHAPES_CAP:
            short = fresh if len(max(fresh, key=len, default=b"")) <= SHAPE_CAP else {shape for shape in fresh if len(shape) <= SHAPE_CAP}
            self.seen |= short

    def _select(
        self, lines: list[bytes], places: list[tuple[int, int]], shapes: list[bytes], fresh: set[bytes], alarming: set[bytes], grave: set[bytes]
    ) -> None:
        done = 0
        for at, shape in enumerate(shapes):
            if shape not in fresh:
                continue
            fresh.discard(shape)
            if self._counts(shape, alarming, grave):
                self._keep_owed(lines, places, done, at)
                self._keep_before(lines, places, at)
                self.owed = AFTER + 1
                done = at
            elif self.novel < NOVEL_CAP:
                self.novel += 1
                self._keep(lines, places, at, at + 1)
        self._keep_owed(lines, places, done, len(lines))

    def _counts(self, shape: bytes, alarming: set[bytes], grave: set[bytes]) -> bool:
        if shape in grave and self.graves < GRAVE_CAP:
            self.graves += 1
            return True
        if shape in alarming and self.alarms < ALARMS_CAP:
            self.alarms += 1
            return True
        return False

    def _keep_owed(self, lines: list[bytes], places: list[tuple[int, int]], start: int, end: int) -> None:
        stop = min(end, start + self.owed)
        self._keep(lines, places, start, stop)
        self.owed -= max(0, stop - start)

    def _keep_before(self, lines: list[bytes], places: list[tuple[int, int]], at: int) -> None:
        if at < BEFORE and self.kept_bytes < KEPT_CAP:
            self.kept.update((place, _short(line)) for place, line in list(self.recent)[at - BEFORE :])
        self._keep(lines, places, max(0, at - BEFORE), at)

    def _keep(self, lines: list[bytes], places: list[tuple[int, int]], start: int, stop: int) -> None:
        for at in range(start, stop):
            if places[at] not in self.kept and self.kept_bytes < KEPT_CAP:
                self.kept[places[at]] = line = _short(lines[at])
                self.kept_bytes += len(line)


def _containing(shapes: set[bytes], literals: tuple[bytes, ...]) -> set[bytes]:
    joined = b"\n".join(shapes)
    present = [literal for literal in literals if literal in joined]
    return {shape for shape in shapes if any(literal in shape for literal in present)} if present else set()


def _short(line: bytes) -> bytes:
    """The line, or of a very long one the part that `_text` would keep, so that windows of long lines stay small."""
    return line if len(line) <= 2 * KEPT_LINE else _around_alarm(line)


def _around_alarm(line: bytes) -> bytes:
    for literals in (GRAVE, ALARMS):
        hits = [at for at in (line.find(literal) for literal in literals) if at >= 0]
        if hits:
            start = max(0, min(hits) - KEPT_LINE // 4)
            return line[start : start + KEPT_LINE]
    return line[:KEPT_LINE]

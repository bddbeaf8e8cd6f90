"""Reading any input in bounded memory: a small one is kept whole, of a large one what a report can be made of."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import chain, count
from typing import NamedTuple, Protocol

from kbtool.matching.decoding import Decoder

READ = 64 << 10
"""Bytes a read: what a pipe holds; for more, memory would be taken and given back each time."""
BLOCK = 1 << 20
"""Bytes that are looked at together."""
WHOLE = 256 << 10
"""Inputs up to this size are kept whole."""
KEPT_LINE = 4096
"""Bytes of a line that are kept; of a longer one those around an alarm, or its beginning and its end."""


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
    if len(text) <= KEPT_LINE and text.isascii() and "\0" not in text:  # as nearly every symptom of an entry
        lines = text.split("\n")
        return Reading(tuple(map(RawLine, count(1), lines if lines[-1] else lines[:-1])), truncated=False, size=len(text))
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
    while chunk := read(READ):
        size += len(chunk)
        if tee is not None:
            tee(chunk)
        if progress is not None:
            progress(size)
        yield chunk


def read_chunks(chunks: Iterable[bytes]) -> Reading:
    """The reading of an input that comes in pieces of any size."""
    blocks = _blocks(chunks)
    first = next(blocks, b"")
    second = next(blocks, b"")
    if not second and len(first) <= WHOLE:
        return Reading(_all_lines(first), truncated=False, size=len(first))
    # only a large input needs the means to choose
    from kbtool.matching.keeper import Keeper

    keeper, decoder = Keeper(), Decoder()
    size = 0
    for block in chain((first, second), blocks):
        size += len(block)
        keeper.feed(decoder.feed(block))
    keeper.feed(decoder.rest())
    return Reading(tuple(RawLine(number, _text(line)) for number, line in keeper.finish()), truncated=True, size=size)


def _blocks(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Pieces of any size as pieces of about `BLOCK` bytes."""
    waiting: list[bytes] = []
    size = 0
    for chunk in chunks:
        waiting.append(chunk)
        size += len(chunk)
        if size < BLOCK:
            continue
        joined = b"".join(waiting) if len(waiting) > 1 else chunk
        for start in range(0, size, BLOCK):
            yield joined[start : start + BLOCK]
        waiting, size = [], 0
    if waiting:
        yield b"".join(waiting)


def _all_lines(data: bytes) -> tuple[RawLine, ...]:
    decoder = Decoder()
    lines = (decoder.feed(data) + decoder.rest()).split(b"\n")
    if lines and not lines[-1]:
        lines.pop()
    return tuple(RawLine(number, _text(piece)) for number, line in enumerate(lines, 1) for piece in _pieces(line))


def _pieces(line: bytes) -> list[bytes]:
    if len(line) <= KEPT_LINE:
        return [line]
    from kbtool.matching.retention import pieces

    return pieces(line)


def _text(line: bytes) -> str:
    return line.decode("utf-8", "replace")

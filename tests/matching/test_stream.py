"""Any input is read in bounded memory, and what matters of it is kept."""

from __future__ import annotations

import base64
import io
import os
import random
import subprocess
import sys
from collections.abc import Callable, Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kbtool.matching.keeper import HEAD, LINE_CAP
from kbtool.matching.report import make_report
from kbtool.matching.stream import BLOCK, WHOLE, read_chunks, read_stream, read_text

FAILURE = b'Traceback (most recent call last):\n  File "train.py", line 3, in <module>\nValueError: the one that matters\n'


def beat(lines: int) -> bytes:
    """A healthy log's steady beat."""
    return b"".join(b"step %7d/2000000 | loss %d.%04d | 48k tok/s\n" % (i, i % 3, i % 9973) for i in range(lines))


@pytest.mark.parametrize("place", ["first", "middle", "last"])
def test_the_failure_of_a_large_log_is_found_wherever_it_stands(place: str) -> None:
    """In the first, the middle and the last KiB, with its right line number, and little else is kept."""
    log = beat(200_000)
    half = log.index(b"\n", len(log) // 2) + 1
    at = {"first": 0, "middle": half, "last": len(log)}[place]
    reading = read_chunks([log[:at] + FAILURE + log[at:]])

    found = [line for line in reading.lines if "the one that matters" in line.text]

    assert [log[:at].count(b"\n") + 3] == [line.number for line in found]
    assert reading.truncated
    assert len(reading.lines) < 2000


@pytest.mark.parametrize("separator", [b" ", b"\r"])
@pytest.mark.parametrize("place", [0, 1, 2])
def test_an_endless_line_is_read_in_pieces(place: int, separator: bytes) -> None:
    """Twelve MiB without a newline: the failure is found in its first, middle and last part, all of it in line 1."""
    filler = separator.join([b"loss 0.123 and so on"] * (6 * BLOCK // 21))
    parts = [b"", filler, filler]
    parts.insert(place if place < 2 else 3, b" ValueError: Error: the one that matters ")
    reading = read_chunks(iter(parts))

    assert any("the one that matters" in line.text for line in reading.lines)
    assert {line.number for line in reading.lines} == {1}
    assert sum(len(line.text) for line in reading.lines) < 1 << 20


def words(chance: random.Random, count: int) -> bytes:
    """Words that never come in this order again."""
    return b" ".join(chance.choices([b"loss", b"rate", b"shard", b"file", b"worker", b"of", b"the", b"sample", b"batch"], k=count)) + b" %s" % chance.randbytes(4).hex().encode()


KINDS: dict[str, Callable[[int, random.Random], bytes]] = {
    "error lines": lambda i, chance: b"11:%02d ERROR [worker-%d] KeyError: %s\n" % (i % 60, i % 16, words(chance, 6)),
    "failing lines": lambda i, chance: b"error %s failed, timed out\n" % words(chance, 5),
    "tracebacks": lambda i, chance: b'Traceback (most recent call last):\n  File "a.py", line %d, in f\nOSError: %s\n' % (i, words(chance, 4)),
    "prose": lambda i, chance: words(chance, 14) + b"\n",
    "objects": lambda i, chance: b'{"id": %d, "error": null, "text": "%s"}\n' % (i, words(chance, 9)),
    "base64": lambda i, chance: base64.b64encode(chance.randbytes(57)) + b"\n",
    "bars": lambda i, chance: "\rEpoch 3: {:3d}%|{:10}| {}/700".format(i % 100, "█" * (i % 10), i).encode() + b"\n" * (i % 500 == 499),
    "ranks": lambda i, chance: b"[rank%d]: 2026-11-30T04:11:%02d.%06dZ INFO step=%d %.4f\n" % (i % 8, i % 60, i, i, chance.random()),
    "short lines": lambda i, chance: b"%x\n" % chance.randrange(1 << 20),
}


@pytest.mark.parametrize("kind", KINDS)
def test_the_report_holds_the_failure_whatever_surrounds_it(kind: str) -> None:
    """Twelve MiB of each kind of lines, most never the same twice: the failure of the first, middle and last KiB is found and gets into the report."""
    chance = random.Random(4)
    block = b"".join(KINDS[kind](i, chance) for i in range(60_000))[: 3 * BLOCK]
    flood = block * -(-6 * BLOCK // len(block))
    inputs = (block[:500] + b"\n" + FAILURE + flood * 2, flood + b"\n" + FAILURE + flood, flood * 2 + b"\n" + FAILURE + block[:500])

    reports = [make_report(read_chunks([data])) for data in inputs]
    assert [any("the one that matters" in line.text for line in report.lines) for report in reports] == [True, True, True]


def test_a_flood_of_different_errors_does_not_hide_the_traceback() -> None:
    """More alarming lines than are kept, all different, before the one traceback."""
    noise = random.Random(1)
    flood = b"".join(b"ERROR %s failed\n" % noise.randbytes(8).hex().encode() for _ in range(30_000))
    reading = read_chunks([flood + FAILURE + flood])

    assert any("the one that matters" in line.text for line in reading.lines)


@pytest.mark.parametrize("end", [b"\n", b" "], ids=["lines", "one line"])
def test_memory_stays_bounded_in_a_real_process(end: bytes) -> None:
    """128 MiB through a pipe, of lines that are all different or as a single line: the peak stays below 100 MiB."""
    if not os.path.exists("/proc/self/status"):
        pytest.skip("needs /proc to ask for the peak")
    program = (
        "import sys\n"
        "from kbtool.matching.stream import read_stream\n"
        "reading = read_stream(sys.stdin.buffer)\n"
        # not ru_maxrss: that one still counts the process this one was forked from
        "print(reading.size, next(line.split()[1] for line in open('/proc/self/status') if line.startswith('VmHWM')))\n"
    )
    child = subprocess.Popen([sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert child.stdin and child.stdout
    noise = random.Random(2)
    block = b"".join(b"error %s at %d%s" % (noise.randbytes(24).hex().encode(), i, end) for i in range(16_000))
    for turn in range(128 * BLOCK // len(block)):
        child.stdin.write(block.replace(b"error", b"err%dor" % turn))
    child.stdin.close()
    size, peak = map(int, child.stdout.read().split())
    child.wait()

    assert size > 120 * BLOCK
    assert peak < 100 * 1024


@pytest.mark.parametrize(
    "data",
    [
        FAILURE.decode().encode("utf-16"),
        FAILURE.decode().encode("utf-16-le"),
        FAILURE.decode().encode("utf-16-be"),
        b"\xef\xbb\xbf" + FAILURE,
        b"\0\0" + FAILURE,
        b"a" * LINE_CAP + b"\0\n" + FAILURE,
        beat(30_000) + b"\0" + FAILURE,
        b"\xc3(\xff\n" + FAILURE,
        b"10%\r20%\r30%\r" + FAILURE,
        FAILURE.replace(b"\n", b"\r\n"),
    ],
)
def test_odd_encodings_are_read(data: bytes) -> None:
    """UTF-16, byte order marks, NULs before and after the first buffer, invalid UTF-8, lone CR and CRLF."""
    assert any("ValueError: the one that matters" in line.text.strip("\r") for line in read_chunks([data]).lines)


@settings(max_examples=150, deadline=None)
@given(st.lists(st.binary(max_size=3000), max_size=6), st.booleans())
def test_random_bytes_never_raise(parts: list[bytes], large: bool) -> None:
    """Whatever comes, in whatever pieces, small or behind a large log: line numbers grow and nothing is raised."""
    reading = read_chunks(([beat(9000)] if large else []) + parts)

    assert reading.size == sum(map(len, parts)) + (len(beat(9000)) if large else 0)
    assert [line.number for line in reading.lines] == sorted(line.number for line in reading.lines)


def test_a_small_input_is_kept_whole() -> None:
    """Every line, and nothing is said to be missing; a missing last newline is no missing line."""
    text = "\n".join(f"line {i}" for i in range(2000))
    reading = read_text(text)

    assert (len(reading.lines), reading.truncated) == (2000, False)
    assert len(text) < WHOLE


def test_the_beginning_and_the_end_stay() -> None:
    """Of a log without any alarm its first and last lines are kept."""
    numbers = [line.number for line in read_chunks([beat(50_000)]).lines]

    assert numbers[:HEAD] == list(range(1, HEAD + 1))
    assert numbers[-1] == 50_000


class Trickle(io.RawIOBase):
    """A pipe that holds one line at a time."""

    def __init__(self, lines: Iterator[bytes]) -> None:
        self._lines = lines

    def read(self, size: int = -1) -> bytes:
        """All there will ever be."""
        return b"".join(self._lines)

    def read1(self, size: int = -1) -> bytes:
        """The next line."""
        return next(self._lines, b"")


def test_tee_passes_a_line_on_before_the_next_one_comes() -> None:
    """Nothing is held back until a block is full."""
    passed: list[bytes] = []
    lines = [b"one\n", b"two\n"]

    def slow() -> Iterator[bytes]:
        for at, line in enumerate(lines):
            assert passed == lines[:at]
            yield line

    read_stream(Trickle(slow()), tee=passed.append)

    assert passed == lines


def test_tee_passes_every_byte_on() -> None:
    """What is read is passed on unchanged, in order, and its size is told."""
    data = beat(40_000) + b"\0\xff\r\nend"
    passed: list[bytes] = []
    sizes: list[int] = []

    read_stream(io.BytesIO(data), tee=passed.append, progress=sizes.append)

    assert data == b"".join(passed)
    assert len(data) == sizes[-1]

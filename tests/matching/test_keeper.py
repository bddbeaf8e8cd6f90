"""What of a large input stays: the right lines, under their right numbers, and no more than there is room for."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kbtool.matching.keeper import CONTEXT, HEAD, LINE_CAP, TAIL, Keeper
from kbtool.matching.report import MOST_LINES, report_text
from kbtool.matching.retention import ALARM_ROOM, GRAVE_ROOM, NOVEL_ROOM, RESERVE, pieces
from kbtool.matching.stream import BLOCK, KEPT_LINE

LINES = st.sampled_from(
    [
        b"step 12 | loss 0.5",
        b"step 13 | loss 0.25\r",
        b"",
        b"WARNING: retrying 3",
        b"ValueError: bad value",
        b"  10%|#   |\r  20%|##  |",
        b"Traceback (most recent call last):",
        "错误 显存不足".encode(),
        b"long " * 2000,
        b"an error " + b"far away " * 9000,
    ]
)


def keep(text: bytes, size: int = BLOCK) -> list[tuple[int, bytes]]:
    """What is kept of a text that comes in parts of `size` bytes."""
    keeper = Keeper()
    for start in range(0, len(text), size):
        keeper.feed(text[start : start + size])
    return keeper.finish()


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(LINES, st.integers(1, 30)), min_size=1, max_size=30), st.sampled_from([700, 9000, 1 << 17]), st.booleans())
def test_every_kept_line_stands_in_the_input_under_its_number(groups: list[tuple[bytes, int]], size: int, closed: bool) -> None:
    """Whatever the lines and however they come, what is kept is a part of the line of that number, in the order of the input."""
    lines = [line for line, times in groups for _ in range(times)]
    text = b"\n".join(lines) + b"\n" * closed
    kept = keep(text, size)

    assert [number for number, line in kept if line not in lines[number - 1]] == []
    assert [number for number, _ in kept] == sorted(number for number, _ in kept)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 4000), st.integers(600, 5000))
def test_the_neighbourhood_survives_the_edges_of_blocks(lines: int, size: int) -> None:
    """Wherever a block ends, the lines before and after an alarming one are kept."""
    before = b"".join(b"word %s\n" % name for name in names(lines + CONTEXT))
    after = [b"after %s\n" % name for name in names(CONTEXT)]
    kept = dict(keep(before + b"ValueError: the one\n" + b"".join(after) + beat(6000), size))
    at = lines + CONTEXT + 1

    assert kept[at] == b"ValueError: the one"
    assert [b"word " + name for name in names(lines + CONTEXT)[-20:]] == [kept.get(at - 20 + i) for i in range(20)]
    assert [line.strip() for line in after[:20]] == [kept.get(at + 1 + i) for i in range(20)]


def names(count: int) -> list[bytes]:
    """Words that differ in letters, each the same in every call."""
    return [bytes(97 + (i // 26**place) % 26 for place in range(4)) for i in range(count)]


def beat(lines: int) -> bytes:
    """A healthy log's steady beat."""
    return b"".join(b"step %d | loss 0.%04d\n" % (i, i % 9973) for i in range(lines))


def test_no_more_is_kept_than_a_report_takes() -> None:
    """All rooms together stay below the lines of a report, so that what comes late is not cut off there."""
    reserves = 8 * RESERVE

    assert HEAD + TAIL + ALARM_ROOM + GRAVE_ROOM + NOVEL_ROOM + reserves < MOST_LINES


@pytest.mark.parametrize("words", ["error", "Value", "killed by signal"])
def test_a_flood_leaves_room(words: str) -> None:
    """Of alarming lines that never repeat so many are kept that the last failure still gets into the report."""
    chance = random.Random(3)
    flood = b"".join(b"%s%s %s: %s\n" % (chance.randbytes(2).hex().encode(), words.encode(), b"Error", chance.randbytes(12).hex().encode()) for _ in range(60_000))
    kept = keep(flood + b"Traceback (most recent call last):\nRuntimeError: here it is\n" + flood)

    assert len(kept) < MOST_LINES
    assert any(b"here it is" in line for _, line in kept)


def test_alarms_everywhere_leave_room_for_a_grave_word_that_comes_late() -> None:
    """Hundreds of different alarms far apart, among lines that never repeat, use up the room; a first traceback after them is kept all the same."""
    scattered = b"".join(name + (b"error: odd\n" if i % 150 == 0 else b" plain\n") for i, name in enumerate(names(60_000)))
    kept = keep(scattered + b"Traceback (most recent call last):\nhere it is\n" + scattered)

    assert len(kept) < MOST_LINES
    assert any(line == b"here it is" for _, line in kept)


def test_an_endless_line_is_looked_at_while_it_comes() -> None:
    """A line of five MiB: of three alarms in it, one on the edge of two blocks, a piece of a few KiB is kept for each."""
    words = (b"ValueError: one", b"KeyError: two", b"RuntimeError: three")
    places = (100, BLOCK - 8, 4 * BLOCK)
    text = bytearray(b"x" * (5 * BLOCK))
    for word, place in zip(words, places, strict=True):
        text[place : place + len(word)] = word
    kept = keep(bytes(text))

    assert {1} == {number for number, _ in kept}
    assert [sum(word in line for _, line in kept) for word in words] == [1, 1, 1]
    assert max(len(line) for _, line in kept) <= KEPT_LINE


def test_a_word_glued_to_an_endless_line_is_read() -> None:
    """One character a million times around a message, without a blank: the report reads the message."""
    report = report_text("x" * (2 * LINE_CAP) + "ValueError: here it is " + "x" * (3 * BLOCK))

    assert report.failure is not None
    assert (report.failure.type, report.failure.message.startswith("here it is")) == ("ValueError", True)


def test_pieces_of_a_long_line() -> None:
    """Its beginning, its end and the neighbourhood of its alarms; a line of usual length stays whole."""
    line = b"begin " + b"a " * 9000 + b"out of memory" + b" b" * 9000 + b" end"
    made = pieces(line)

    assert pieces(b"short") == [b"short"]
    assert (made[0][:5], made[-1][-3:]) == (b"begin", b"end")
    assert any(b"out of memory" in piece for piece in made)
    assert sum(map(len, made)) < 3 * KEPT_LINE

"""The memory of line shapes: what repeats is known, and where nothing repeats it is not asked."""

from __future__ import annotations

from kbtool.matching.shapes import LONGEST_REST, SHAPE_CAP, ShapeMemory, starts

STEADY = [b"step 00", b"step 000", b"saved"] * 100


def wild(turn: int) -> list[bytes]:
    """Lines that never came before."""
    return [b"line %d %d" % (turn, i) for i in range(100)]


def test_a_shape_is_new_once() -> None:
    """New shapes come in the order of the lines, and not again."""
    memory = ShapeMemory()

    assert memory.fresh(STEADY) == [b"step 00", b"step 000", b"saved"]
    assert memory.fresh([*STEADY, b"other", *STEADY]) == [b"other"]
    assert (memory.wild, memory.resting()) == (False, False)


def test_where_lines_never_repeat_the_memory_rests() -> None:
    """Longer each time, up to a bound; one steady block ends it."""
    memory = ShapeMemory()
    rests = []
    for turn in range(8):
        memory.fresh(wild(turn))
        rests.append(next(i for i in range(1000) if not memory.resting()))

    assert rests == sorted(rests)
    assert (rests[0], rests[-1]) == (2, LONGEST_REST)
    memory.fresh(STEADY)
    assert not memory.wild


def test_endless_shapes_are_not_remembered() -> None:
    """A line longer than any that repeats is new each time and takes no memory."""
    memory = ShapeMemory()
    long = [b"x" * (SHAPE_CAP + 1)]

    assert (memory.fresh(long), memory.fresh(long)) == (long, long)


def test_where_lines_begin_first() -> None:
    """The place of a line's first occurrence in the text that the lines make."""
    lines = [b"a", b"bb", b"a", b"ccc"]

    assert starts(lines, [b"a", b"ccc"]) == {b"a": 0, b"ccc": b"\n".join(lines).index(b"ccc")}

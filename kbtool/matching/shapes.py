"""Which lines of a log are new: a line's shape is the line folded, and a log's steady beat has few shapes.

Splitting and looking up run in C, so that a block whose lines were all seen costs two thousandths of a second a MiB. Where lines never
repeat the memory is of no use; such stretches are noticed and passed by.
"""

from __future__ import annotations

from collections.abc import Iterable

SHAPE_CAP = 512
"""Bytes of a shape that is worth remembering; longer lines hardly repeat."""
SHAPES_CAP = 40_000
"""Shapes remembered before the memory of them starts anew."""
WILD = 0.3
"""Share of new lines in a block from which on looking at all of it costs less than finding out which are new."""
LONGEST_REST = 32
"""Blocks that are passed by at most before it is asked again whether lines repeat."""


class ShapeMemory:
    """Remembers the shapes of lines."""

    def __init__(self) -> None:
        self._seen: set[bytes] = set()
        self._rest = 0
        self._longer_rest = 2
        self.wild = False
        """True where the block that was asked last consists of little but new lines."""

    def resting(self) -> bool:
        """True where the last blocks were wild and this one is not worth asking."""
        self._rest -= 1
        return self._rest >= 0

    def fresh(self, lines: list[bytes]) -> list[bytes]:
        """The shapes that were not seen before, in the order of the lines."""
        fresh = [shape for shape in dict.fromkeys(lines) if shape not in self._seen]
        self._remember(fresh)
        self.wild = len(fresh) > WILD * len(lines)
        if self.wild:
            self._rest = self._longer_rest
            self._longer_rest = min(2 * self._longer_rest, LONGEST_REST)
        else:
            self._longer_rest = 2
        return fresh

    def _remember(self, fresh: list[bytes]) -> None:
        if len(self._seen) + len(fresh) > SHAPES_CAP:
            self._seen.clear()
        if len(fresh) <= SHAPES_CAP:
            self._seen.update(shape for shape in fresh if len(shape) <= SHAPE_CAP)


def starts(lines: list[bytes], wanted: Iterable[bytes]) -> dict[bytes, int]:
    """Where each wanted line begins first in the text that `lines` are the lines of."""
    missing = set(wanted)
    found: dict[bytes, int] = {}
    at = 0
    for line in lines:
        if line in missing:
            missing.discard(line)
            found[line] = at
        at += len(line) + 1
    return found

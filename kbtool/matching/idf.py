"""What finding a token tells: much where few entries of the base have it."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

from kbtool.matching.background import SETTLED, SHARE


class TokenFrequencies:
    """What a base of `size` entries knows of tokens: `frequency` says in how many entries each of them stands, and may grow as tokens are asked for."""

    __slots__ = ("frequency", "idf", "size")

    def __init__(self, size: int, frequency: Mapping[str, int]):
        self.size = size
        self.frequency = frequency
        self.idf: Callable[[str], float] = _Idf(size, frequency).__getitem__
        """What finding a token tells (natural logarithm); a small base is filled up with what is common elsewhere."""


class _Idf(dict[str, float]):
    """Token → inverse document frequency, reckoned once: this is looked up thousands of times a question."""

    def __init__(self, size: int, frequency: Mapping[str, int]):
        self._missing = max(0, SETTLED - size)
        self._size = size + self._missing
        self._frequency = frequency

    def __missing__(self, token: str) -> float:
        count = self._frequency.get(token, 0) + self._missing * SHARE.get(token, 0.0)
        found = math.log(1 + (self._size - count + 0.5) / (count + 0.5))
        if token in self._frequency:
            self[token] = found
        return found

"""Which entries hold a token, and in which of their parts: one array of numbers a token.

A posting is an entry's number in the index with three bits below it. The arrays are what a question reads of ten thousand entries: a few
kilobytes, from which `candidates` tells the few entries worth opening.
"""

from __future__ import annotations

import sys
from array import array
from collections.abc import Iterable

from kbtool.matching.profile import Profile

SYMPTOM, CONTEXT, TITLE = 1, 2, 4
"""Parts of an entry: one of its wordings; its title, cause, fix or tags; its title. A token in none of them is part of the entry's id."""
SHIFT = 3
PARTS = (1 << SHIFT) - 1


def token_parts(profile: Profile, symptom: Iterable[str], entry_id: str) -> dict[str, int]:
    """Every token by which an entry can be found, with the parts that hold it; `symptom` are the tokens of its wordings."""
    parts = dict.fromkeys(entry_id.split("-"), 0)
    for tokens, part in ((symptom, SYMPTOM), (profile.context, CONTEXT), (profile.title, TITLE)):
        for token in tokens:
            parts[token] = parts.get(token, 0) | part
    return parts


def posting(number: int, parts: int) -> int:
    """An entry's number and the parts in which it holds a token."""
    return number << SHIFT | parts


def packed(postings: Iterable[int]) -> bytes:
    """Postings as the index keeps them: unsigned, four bytes each, the lowest first."""
    values = array("I", postings)
    if sys.byteorder == "big":
        values.byteswap()
    return values.tobytes()


def unpacked(data: bytes) -> array[int]:
    """The postings that `packed` wrote; raises ValueError for anything else."""
    values = array("I")
    values.frombytes(data)
    if sys.byteorder == "big":
        values.byteswap()
    return values

"""What a line of a report could say in other words: the families of `paraphrases.txt`, which explains itself."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence, Set
from functools import cache
from pathlib import Path
from typing import NamedTuple

from kbtool.matching.tokens import CODE, cut

TABLE = Path(__file__).with_name("paraphrases.txt")
_TYPED = re.compile(r"(?:\w+\.)*(\w+(?:Error|Exception)): ")
_WORD = re.compile(r"[a-z_][a-z0-9_]*(?<!s)(?!\w)")


class Family(NamedTuple):
    """Texts for the same failure, and who prints them."""

    source: str
    texts: tuple[str, ...]


class Text(NamedTuple):
    """One text of a family, ready to be recognised and to be compared."""

    tokens: tuple[str, ...]
    words: tuple[str, ...]
    needed: tuple[str, ...]
    """The words of its message, which stand in this order where it is recognised."""
    codes: frozenset[str]
    """Words with a number, which must stand there too."""
    type: str
    """The exception type that it begins with, or nothing."""


@cache
def families() -> tuple[Family, ...]:
    """The table."""
    blocks = [block.splitlines() for block in TABLE.read_text(encoding="utf-8").strip().split("\n\n")]
    return tuple(Family(lines[0].removeprefix("# "), tuple(lines[1:])) for lines in blocks if lines[0].startswith("# "))


@cache
def prepared(text: str) -> Text:
    """A text as it is compared."""
    typed = _TYPED.match(text)
    held, words = cut(text)
    message, needed = cut(text[typed.end() :]) if typed else (held, words)
    codes = frozenset(token for token in message if CODE in token)
    return Text(tuple(dict.fromkeys(held)), tuple(words), tuple(needed), codes, typed[1] if typed else "")


def anchor(text: str) -> str:
    """The token by which a text is sought: the longest word of its message."""
    typed = _TYPED.match(text)
    return max(_WORD.findall(text.lower(), typed.end() if typed else 0) or prepared(text).tokens, key=len)


@cache
def _by_anchor() -> Mapping[str, Sequence[tuple[str, Family]]]:
    """Anchor → texts with their families. Only a text that a report may hold is ever cut into tokens: a start would feel it."""
    found: dict[str, list[tuple[str, Family]]] = {}
    for family in families():
        for text in family.texts:
            found.setdefault(anchor(text), []).append((text, family))
    return found


def recognised(words: Sequence[str], tokens: Set[str], begin: int) -> Iterator[tuple[str, Family]]:
    """The texts that these words and tokens say, with their families; each must begin in the first `begin` words."""
    anchors = _by_anchor()
    for token in anchors.keys() & tokens:
        for text, family in anchors[token]:
            sought, given = prepared(text), iter(words)
            if sought.codes <= tokens and sought.needed[0] in words[:begin] and all(word in given for word in sought.needed):
                yield text, family


def other_words(words: Sequence[str], tokens: Set[str], begin: int) -> list[str]:
    """What could be said in place of what `recognised` finds."""
    found = list(recognised(words, tokens, begin))
    said = {text for text, _ in found}
    return list(dict.fromkeys(text for _, family in sorted(found) for text in family.texts if text not in said))

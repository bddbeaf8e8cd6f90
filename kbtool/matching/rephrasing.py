"""What a line of a report could say in other words: the families of `paraphrases.txt`, which explains itself."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence, Set
from functools import cache
from pathlib import Path
from typing import NamedTuple

from kbtool.matching.tokens import CODE, cut

TABLE = Path(__file__).with_name("paraphrases.txt")
_PUNCTUATION = "`'\".,:;()[]{}<>*&|="
_BEGINNING = re.compile(r"(?<![A-Za-z_])[A-Za-z]{4}")
"""The first letters of a word as `tokens` cuts it, of which none is lost with a plural's s."""


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
    kind, message = _parted(text)
    held, words = cut(text)
    said, needed = cut(message)
    return Text(tuple(dict.fromkeys(held)), tuple(words), tuple(needed), frozenset(token for token in said if CODE in token), kind.rpartition(".")[2])


def _parted(text: str) -> tuple[str, str]:
    """The exception type that a text begins with, or nothing, and its message."""
    head, _, message = text.partition(": ")
    return (head, message) if head.endswith(("Error", "Exception")) and " " not in head else ("", text)


@cache
def _by_anchor() -> Mapping[str, Sequence[tuple[str, Family]]]:
    """The longest word of a message → the texts with it: only a text that a report may hold is ever cut into tokens, or a start would feel it."""
    found: dict[str, list[tuple[str, Family]]] = {}
    for family in families():
        for text in family.texts:
            found.setdefault(max(_parted(text)[1].split(), key=len).strip(_PUNCTUATION), []).append((text, family))
    return found


@cache
def _by_beginning() -> Mapping[str, Sequence[str]]:
    """How an anchor begins, in lower case → these anchors; under nothing those that do not begin like a word."""
    found: dict[str, list[str]] = {}
    for anchor in _by_anchor():
        beginning = anchor[:4].lower()
        found.setdefault(beginning if _BEGINNING.match(beginning) else "", []).append(anchor)
    return found


def anchors_in(report: str) -> list[str]:
    """The words in a report, as it is spelt, by which texts are sought; most reports have none.

    A text is recognised by whole words, so that only what a word of the report begins with is looked for.
    """
    table = _by_beginning()
    begun = {"", *_BEGINNING.findall(report.lower())}
    return [anchor for beginning in table.keys() & begun for anchor in table[beginning] if anchor in report]


def recognised(line: str, below: str, anchors: Sequence[str]) -> list[tuple[str, Family]]:
    """The texts that a line says, alone or with the line after it, with their families; only those with these `anchors` are sought."""
    both = f"{line} {below}"
    lowered = both.lower()
    likely = [one for anchor in anchors if anchor in both for one in _by_anchor()[anchor] if all(word in lowered for word in prepared(one[0]).needed)]
    if not likely:  # most lines are not even cut
        return []
    begin = cut(line)[1]
    tokens, words = cut(both)
    return [(text, family) for text, family in likely if _says(prepared(text), begin, words, frozenset(tokens))]


def _says(text: Text, begin: Sequence[str], words: Sequence[str], tokens: Set[str]) -> bool:
    given = iter(words)
    return text.codes <= tokens and text.needed[0] in begin and all(word in given for word in text.needed)


def other_words(line: str, below: str, anchors: Sequence[str]) -> list[str]:
    """What a line could say in place of what is recognised in it."""
    found = recognised(line, below, anchors)
    said = {text for text, _ in found}
    return list(dict.fromkeys(text for _, family in sorted(found) for text in family.texts if text not in said))

"""The front matter that most entries have: one `key: value` or `key: [value, value]` a line, nothing in it that could mean more.

It is read in a third of the time that YAML takes; at the first line that is not so plain all of it is left to PyYAML. A test holds both to the
same values, lines and spans.
"""

from __future__ import annotations

import re
from typing import NamedTuple


class Value(NamedTuple):
    """A key's value: a string or a list of strings, its 0-based line, and the span of characters it stands in."""

    value: str | list[str] | None
    """None for a nested mapping, which no key of an entry has."""
    line: int
    start: int
    end: int


_QUOTED = r"\"[\w !#-\[\]-~]*\"|'[\w -&(-~]*'"
_COLON = r":(?=[\w./*$-])"
"""A colon within a word, as in `file:*.py`; before a blank it makes a mapping."""
_IN_LIST = rf"{_QUOTED}|\w(?:[\w !$-+./;<=>@^`|~\"-]|{_COLON})*(?<! )"
_ALONE = rf"{_QUOTED}|\w(?:[\w !\"$-9;-~]|{_COLON})*(?<! )"
_LINE = re.compile(rf"([a-z_]+): (?:({_ALONE})|\[((?:{_IN_LIST})(?:, (?:{_IN_LIST}))*)?\])\n")
_ITEM = re.compile(rf"({_IN_LIST})(?:, |$)")


def plain_values(text: str) -> dict[str, Value] | None:
    """The values by their keys, or None where `text` is not plain."""
    values: dict[str, Value] = {}
    line = at = 0
    while at < len(text):
        found = _LINE.match(text, at)
        if found is None or found[1] in values:
            return None
        if found[2] is not None:
            values[found[1]] = Value(_bare(found[2]), line, found.start(2), found.end(2))
        else:
            items = [_bare(item) for item in _ITEM.findall(found[3] or "")]
            values[found[1]] = Value(items, line, at + len(found[1]) + 2, found.end() - 1)
        line += 1
        at = found.end()
    return values


def _bare(scalar: str) -> str:
    return scalar[1:-1] if scalar[0] in "\"'" else scalar

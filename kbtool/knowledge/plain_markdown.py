"""The blocks of a page that is written as plainly as most entries are: headings and fences at the margin, and prose.

Only what can mean one thing is read here, in a twentieth of the time that all of CommonMark takes; at the first line that could mean more (a
table, an underlined heading, HTML, an indented fence) the page is left to markdown-it. A test holds both to the same result.
"""

from __future__ import annotations

import re
from typing import NamedTuple

_HEADING = re.compile(r"(#{1,6})(?:[ \t]+(.*))?$")
_CLOSING_MARKS = re.compile(r"(?:^|[ \t]+)#+$")
_OPENING = re.compile(r"(`{3,})([^`]*)$|(~{3,})(.*)$")
_CLOSING = re.compile(r" {0,3}(`{3,}|~{3,})[ \t]*$")
_AMBIGUOUS = re.compile(
    r"[ \t]+(?:#|```|~~~)"  # part of a list, or indented code
    r"| {0,3}<"  # HTML
    r"|[ \t>]*[-=|:][-=|: \t]*$"  # what underlines a heading, a rule, the second line of a table
)
_TELLING = frozenset("#`~ \t<>-=|:")
"""Characters that a line of any of these shapes begins with."""


class Block(NamedTuple):
    """A heading of `level` 1 to 6, or a fence (level 0) with its `info`; `start` and `end` are 0-based lines of the page, `end` excluded."""

    level: int
    text: str
    info: str
    start: int
    end: int


def plain_blocks(page: str) -> list[Block] | None:
    """The headings and fences of a page in their order, or None where it is not plain."""
    if "\r" in page:
        return None
    blocks: list[Block] = []
    lines = page.split("\n")
    mark, info, start = "", "", 0
    for at, line in enumerate(lines):
        if mark:
            if mark in line and (closing := _CLOSING.match(line)) and closing[1].startswith(mark):
                blocks.append(Block(0, "\n".join(lines[start + 1 : at]), info, start, at + 1))
                mark = ""
        elif line[:1] not in _TELLING:
            continue
        elif line[0] == "#":
            if heading := _HEADING.match(line):
                text = (heading[2] or "").rstrip(" \t")
                blocks.append(Block(len(heading[1]), _CLOSING_MARKS.sub("", text) if text.endswith("#") else text, "", at, at + 1))
        elif opening := _OPENING.match(line):
            mark, info, start = opening[1] or opening[3], (opening[2] or opening[4] or "").strip(), at
        elif _AMBIGUOUS.match(line):
            return None
    return None if mark else blocks

"""Merging two branches of an entry: outcome rows of both sides are united, everything else is merged by git as the text it is.

Both branches append rows at the same place, so git alone would call every pair of outcomes a conflict. The rows are taken out of all
three versions, the rest is merged as usual, and the united rows are put back.
"""

from __future__ import annotations

import subprocess
import tempfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from kbtool.errors import KbError
from kbtool.knowledge import headings
from kbtool.knowledge.document import Document, Section, Table, parse_document
from kbtool.knowledge.frontmatter import FrontMatterError
from kbtool.knowledge.outcomes import format_header, outcome_table

GIT_SECONDS = 60.0
CONFLICTS_MOST = 127
"""`git merge-file` exits with the number of conflicts up to this; above it, it failed."""


@dataclass(frozen=True)
class Merged:
    """The merged bytes, and whether conflicts are marked in them."""

    data: bytes
    conflicts: bool


@dataclass(frozen=True)
class Version:
    """One side: its lines without the outcomes, the rows, the table's head, and the heading of the section that follows them."""

    rest: bytes
    rows: tuple[bytes, ...]
    head: tuple[bytes, ...] = ()
    following: bytes | None = None
    newline: bytes = b"\n"


def merge_entries(base: bytes, ours: bytes, theirs: bytes) -> Merged:
    """Merge two versions of an entry that come from `base`.

    Raises KbError when git can not merge the text.
    """
    try:
        versions = [_split(data) for data in (base, ours, theirs)]
    except (FrontMatterError, UnicodeDecodeError, RecursionError):
        return _merge_text(base, ours, theirs)
    origin, mine, other = versions
    text = _merge_text(origin.rest, mine.rest, other.rest)
    rows = unite(origin.rows, mine.rows, other.rows)
    if not rows:
        return text
    side = mine if mine.head else other
    return Merged(_with_table(text.data, [*_head(side), *rows], side), text.conflicts)


def unite(base: tuple[bytes, ...], ours: tuple[bytes, ...], theirs: tuple[bytes, ...]) -> list[bytes]:
    """The rows of both sides: what one side added is added, what one side folded away is gone; in order of their time."""
    wanted = Counter(ours) + Counter(theirs)
    wanted.subtract(Counter(base))
    united = []
    for row in (*ours, *theirs):
        if wanted[row] > 0:
            wanted[row] -= 1
            united.append(row)
    return sorted(united, key=_time) if all(_time(row)[:1].isdigit() for row in united) else united


def _time(row: bytes) -> bytes:
    return row.strip(b"| ").split(b"|", 1)[0].strip()


def _split(data: bytes) -> Version:
    document = parse_document(data)
    section = document.section(headings.OUTCOMES)
    table = outcome_table(document)
    if section is None or table is None:
        return Version(data, (), newline=document.newline)
    lines = document.lines
    rows = tuple(lines[row.line].strip() for row in table.rows)
    start, end = _cut(document, section, table)
    head = tuple(line.strip() for line in lines[table.start : table.start + 2])
    following = lines[section.end].strip() if section.end < len(lines) else None
    rest = [*lines[:start], *lines[end:]]
    if end == len(lines) and rest and not rest[-1].endswith((b"\n", b"\r")):
        rest[-1] += document.newline
    return Version(b"".join(rest), rows, head, following, document.newline)


def _cut(document: Document, section: Section, table: Table) -> tuple[int, int]:
    """The lines to take out: the table, and the heading too where the section holds nothing else."""
    lines = document.lines
    own = b"".join([*lines[section.line + 1 : table.start], *lines[table.end : section.end]])
    if own.strip():
        return table.start, table.end
    start = section.line
    while start > 0 and not lines[start - 1].strip():
        start -= 1
    end = section.end
    while end > table.end and end < len(lines) and not lines[end - 1].strip():
        end -= 1
    return start, end


def _head(side: Version) -> tuple[bytes, ...]:
    return side.head or tuple(line.encode("utf-8") for line in format_header())


def _with_table(data: bytes, table: list[bytes], side: Version) -> bytes:
    """`data` with the table in its Outcomes section, or in a new one before the section that followed it, or at the end."""
    newline = side.newline
    lines = data.splitlines(keepends=True)
    if lines and not lines[-1].endswith((b"\n", b"\r")):
        lines[-1] += newline
    heading = f"## {headings.written_heading(headings.OUTCOMES)}".encode()
    at, opening = _place(data, lines, side, heading)
    block = [line + newline for line in (b"", *opening, *table)]
    if at < len(lines) and lines[at].strip():
        block.append(newline)
    return b"".join([*lines[:at], *block, *lines[at:]])


def _place(data: bytes, lines: list[bytes], side: Version, heading: bytes) -> tuple[int, tuple[bytes, ...]]:
    try:
        section = parse_document(data).section(headings.OUTCOMES)
    except (FrontMatterError, UnicodeDecodeError, RecursionError):
        section = None
    if section is not None:
        return _after_text(lines, section.line + 1, section.end), ()
    found = [number for number, line in enumerate(lines) if side.following and line.strip() == side.following]
    if len(found) == 1:
        return _after_text(lines, 0, found[0]), (heading, b"")
    return _after_text(lines, 0, len(lines)), (heading, b"")


def _after_text(lines: list[bytes], start: int, end: int) -> int:
    while end > start and not lines[end - 1].strip():
        end -= 1
    return end


def _merge_text(base: bytes, ours: bytes, theirs: bytes) -> Merged:
    """git's own three-way merge of a text."""
    with tempfile.TemporaryDirectory(prefix="kb-merge-") as folder:
        paths = [Path(folder) / name for name in ("ours", "base", "theirs")]
        for path, data in zip(paths, (ours, base, theirs), strict=True):
            path.write_bytes(data)
        command = ["git", "merge-file", "-p", "-L", "ours", "-L", "base", "-L", "theirs", *map(str, paths)]
        try:
            done = subprocess.run(command, capture_output=True, stdin=subprocess.DEVNULL, timeout=GIT_SECONDS, check=False)
        except (OSError, subprocess.TimeoutExpired) as error:
            raise KbError(f"`git merge-file` can not be run: {error}") from None
    if done.returncode < 0 or done.returncode > CONFLICTS_MOST:
        raise KbError(f"`git merge-file` failed: {done.stderr.decode('utf-8', 'replace').strip()}")
    return Merged(done.stdout, done.returncode > 0)

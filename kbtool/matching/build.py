"""Filling an index: a full build, or an update of changed files, the same rows either way.

A new index is made beside the old one and renamed over it; readers keep what they have opened. Nothing is changed in place.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import sqlite3
from array import array
from bisect import insort
from collections import defaultdict
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kbtool.knowledge.layers import DOMAIN_PAGE
from kbtool.matching import schema
from kbtool.matching.extract import Numbered, Part, read_part
from kbtool.matching.postings import packed, posting, token_parts, unpacked
from kbtool.matching.profile import encode, from_json, symptom_tokens
from kbtool.matching.rows import COLUMNS
from kbtool.matching.scan import Stamp

Progress = Callable[[int, int], object]
"""Called with files done and files in all."""

Row = tuple[Any, ...]

MANY = 400
"""Files from which on it is worth the start of other processes to read them."""
CHUNK = 64
"""Files that are read one after the other: what they become is merged as one, and no process is left with much when the others are done."""
_ID, _PATH = COLUMNS["entry"].index("id"), COLUMNS["entry"].index("path")


@dataclass
class Numbers:
    """The numbers of entries: those that files have already, and from `free` on those of new ones."""

    known: Mapping[str, int] = field(default_factory=dict)
    free: int = 1

    def of(self, relative: str) -> int:
        """The number of a file's entry."""
        if relative in self.known:
            return self.known[relative]
        self.free += 1
        return self.free - 1


@dataclass
class Content:
    """The rows that a set of files becomes, in the order of `rows.COLUMNS`."""

    files: list[Row] = field(default_factory=list)
    entries: list[Row] = field(default_factory=list)
    cards: list[Row] = field(default_factory=list)
    domains: list[Row] = field(default_factory=list)
    postings: defaultdict[str, array[int]] = field(default_factory=lambda: defaultdict(lambda: array("I")))

    def add(self, part: Part) -> None:
        """Add what more files became; their numbers are higher than those of all before."""
        self.entries += part.entries
        self.cards += part.cards
        self.domains += part.domains
        for token, values in part.postings.items():
            self.postings[token].frombytes(values)

    def file_of(self, entry_id: str) -> str | None:
        """The file of the entry with that id."""
        return next((row[_PATH] for row in self.entries if row[_ID] == entry_id), None)

    def rows(self) -> dict[str, list[Row]]:
        """Table → its rows, without the tokens'."""
        return {"file": self.files, "domain": self.domains, "entry": self.entries, "card": self.cards}


def read_files(root: Path, stamps: dict[str, Stamp], progress: Progress | None = None, numbers: Numbers | None = None) -> Content:
    """Read the files; one that is broken becomes a file row with its problems, and hides no other."""
    content = Content()
    numbers = numbers or Numbers()
    chunks = _chunks([(numbers.of(name), name) for name in sorted(stamps)])
    with contextlib.closing(_parts(root, chunks)) as parts:
        for chunk, part in zip(chunks, parts, strict=True):
            problems = _take(content, part)
            for (_, name), found in zip(chunk, problems, strict=True):
                content.files.append((name, *stamps[name], found))
                if progress is not None:
                    progress(len(content.files), len(stamps))
    return content


def _chunks(numbered: Sequence[Numbered]) -> list[list[Numbered]]:
    """The files in chunks; one whose id stands in a file before it is alone, so that what it becomes can be left out."""
    chunks: list[list[Numbered]] = []
    files: set[str] = set()
    alone = True
    for number, name in numbered:
        file = name.rpartition("/")[2]
        rival = file != DOMAIN_PAGE and file in files
        if alone or rival or len(chunks[-1]) == CHUNK:
            chunks.append([])
        chunks[-1].append((number, name))
        files.add(file)
        alone = rival
    return chunks


def _parts(root: Path, chunks: Sequence[Sequence[Numbered]]) -> Generator[Part, None, None]:
    """What each chunk becomes, in their order, read by several processes where there are many files and more than one processor."""
    if sum(map(len, chunks)) >= MANY:
        from kbtool.matching import workers

        if workers.processors() > 1:
            return workers.parts(root, chunks)
    return (read_part(root, chunk) for chunk in chunks)


def _take(content: Content, part: Part) -> list[str]:
    """Add a chunk's rows; gives the problems of its files. Of two entries with the same id the first one counts."""
    if len(part.problems) == len(part.entries) == 1:
        entry_id = part.entries[0][_ID]
        rival = content.file_of(entry_id)
        if rival is not None:
            return [encode([(1, f"the id `{entry_id}` is taken by {rival}")])]
    content.add(part)
    return part.problems


def fill(connection: sqlite3.Connection, content: Content, root: Path) -> None:
    """Write all rows into a database that is empty."""
    connection.executescript(schema.TABLES)
    with connection:
        for table, rows in content.rows().items():
            insert(connection, table, rows)
        insert(connection, "term", ((token, len(values), packed(values)) for token, values in sorted(content.postings.items())))
        insert(connection, "meta", [("version", schema.VERSION), ("root", os.path.realpath(root))])


def fill_file(path: Path, content: Content, root: Path) -> None:
    """Write all rows of a full build into a new file."""
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.executescript("PRAGMA synchronous=OFF; PRAGMA journal_mode=OFF")  # the file is disposable and gets its name only when it is complete
        fill(connection, content, root)


def insert(connection: sqlite3.Connection, table: str, rows: Iterable[Row]) -> None:
    """Insert rows with the columns that `rows.COLUMNS` gives the table."""
    names = COLUMNS[table]
    connection.executemany(f"INSERT OR REPLACE INTO {table} ({','.join(names)}) VALUES ({','.join('?' * len(names))})", rows)


def update(old: Path, new: Path, root: Path, gone: set[str], changed: dict[str, Stamp]) -> None:
    """Write to `new` what `old` becomes when files `gone` are removed and `changed` are read again.

    Raises sqlite3.Error, ValueError or OSError where the old index is not what it should be: then a full build is due.
    """
    shutil.copyfile(old, new)
    connection = sqlite3.connect(new, isolation_level=None)
    try:
        connection.executescript("PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; BEGIN")
        edits = _Edits()
        numbers = Numbers(edits.numbers, (connection.execute("SELECT max(number) FROM entry").fetchone()[0] or 0) + 1)
        for relative in sorted(gone | set(changed)):
            _remove(connection, relative, edits)
        for relative in changed:
            _refuse_rival(connection, relative)
        content = read_files(root, changed, numbers=numbers)
        for table, rows in content.rows().items():
            insert(connection, table, rows)
        edits.write(connection, content.postings)
        connection.execute("COMMIT")
    finally:
        connection.close()


class _Edits:
    """What an update takes out of the index: the numbers by file, and the postings by token."""

    def __init__(self) -> None:
        self.numbers: dict[str, int] = {}
        self._removed: defaultdict[str, set[int]] = defaultdict(set)

    def remove(self, relative: str, number: int, parts: Mapping[str, int]) -> None:
        """Take out an entry that was indexed with these tokens."""
        self.numbers[relative] = number
        for token, part in parts.items():
            self._removed[token].add(posting(number, part))

    def write(self, connection: sqlite3.Connection, added: Mapping[str, Iterable[int]]) -> None:
        """Change the postings of the tokens that are not as they were."""
        for token in sorted(self._removed.keys() | added.keys()):
            out, into = self._removed.get(token, set()), set(added.get(token, ()))
            if out != into:
                _replace_postings(connection, token, out - into, into - out)


def _replace_postings(connection: sqlite3.Connection, token: str, out: set[int], into: set[int]) -> None:
    row = connection.execute("SELECT postings FROM term WHERE token = ?", (token,)).fetchone()
    values = unpacked(row[0]) if row else array("I")
    for value in out:
        values.remove(value)
    for value in into:
        insort(values, value)
    if values:
        connection.execute("INSERT OR REPLACE INTO term (token, entries, postings) VALUES (?, ?, ?)", (token, len(values), packed(values)))
    else:
        connection.execute("DELETE FROM term WHERE token = ?", (token,))


def _refuse_rival(connection: sqlite3.Connection, relative: str) -> None:
    """Which of two files with the same id counts is settled by a full build only."""
    name = "/" + relative.rpartition("/")[2]
    if not name.endswith("/README.md") and connection.execute("SELECT 1 FROM file WHERE substr(path, -?) = ?", (len(name), name)).fetchone():
        raise sqlite3.IntegrityError(f"{relative}: the id stands in two domains")


def _remove(connection: sqlite3.Connection, relative: str, edits: _Edits) -> None:
    connection.execute("DELETE FROM file WHERE path = ?", (relative,))
    if relative.endswith("/README.md"):
        connection.execute("DELETE FROM domain WHERE path = ?", (relative,))
        return
    _refuse_rival(connection, relative)
    row = connection.execute("SELECT number, profile, id FROM entry WHERE path = ?", (relative,)).fetchone()
    if row is None:
        return
    number, profile, entry_id = row
    connection.execute("DELETE FROM entry WHERE number = ?", (number,))
    connection.execute("DELETE FROM card WHERE number = ?", (number,))
    known = from_json(profile)
    edits.remove(relative, number, token_parts(known, symptom_tokens(known), entry_id))

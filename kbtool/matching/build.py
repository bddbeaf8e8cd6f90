"""Filling an index: a full build with sqlite-utils, an update of changed files with sqlite3, the same rows either way.

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

from kbtool.matching import schema
from kbtool.matching.extract import Extract, extract
from kbtool.matching.postings import packed, posting, token_parts, unpacked
from kbtool.matching.profile import encode, from_json
from kbtool.matching.scan import Stamp

Progress = Callable[[int, int], object]
"""Called with files done and files in all."""

MANY = 400
"""Files from which on it is worth the start of other processes to read them."""


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
    """The rows that a set of files becomes."""

    files: list[dict[str, Any]] = field(default_factory=list)
    entries: list[dict[str, Any]] = field(default_factory=list)
    cards: list[dict[str, Any]] = field(default_factory=list)
    postings: defaultdict[str, array[int]] = field(default_factory=lambda: defaultdict(lambda: array("I")))
    domains: list[dict[str, Any]] = field(default_factory=list)


def read_files(root: Path, stamps: dict[str, Stamp], progress: Progress | None = None, numbers: Numbers | None = None) -> Content:
    """Read the files; one that is broken becomes a file row with its problems, and hides no other."""
    content = Content()
    taken: dict[str, str] = {}
    numbers = numbers or Numbers()
    names = sorted(stamps)
    with contextlib.closing(_extracts(root, names)) as extracts:
        for done, (relative, found) in enumerate(zip(names, extracts, strict=True)):
            problems = _take(content, relative, found, taken, numbers)
            content.files.append({"path": relative, **stamps[relative].row(), "problems": encode(problems)})
            if progress is not None:
                progress(done + 1, len(stamps))
    return content


def _extracts(root: Path, names: Sequence[str]) -> Generator[Extract, None, None]:
    """The extracts of the files in their order, read by several processes where there are many and more than one processor."""
    if len(names) >= MANY:
        from kbtool.matching import workers

        if workers.processors() > 1:
            return workers.extracts(root, names)
    return (extract(root, name) for name in names)


def _take(content: Content, relative: str, found: Extract, taken: dict[str, str], numbers: Numbers) -> list[list[Any]]:
    """Add one file's rows; gives its problems. Of two entries with the same id the first one counts."""
    if found.domain is not None:
        content.domains.append(found.domain)
    if found.entry is None:
        return found.problems
    entry_id = found.entry["id"]
    if entry_id in taken:
        return [[1, f"the id `{entry_id}` is taken by {taken[entry_id]}"]]
    taken[entry_id] = relative
    number = numbers.of(relative)
    content.entries.append({"number": number, **found.entry})
    content.cards.append({"number": number, "card": found.card})
    for token, parts in found.parts.items():
        content.postings[token].append(posting(number, parts))
    return []


def fill(connection: sqlite3.Connection, content: Content, root: Path) -> None:
    """Write all rows with sqlite3, into a database that is empty."""
    connection.executescript(schema.TABLES)
    for table, rows in _tables(content, root):
        insert(connection, table, rows)
    connection.commit()


def fill_with_sqlite_utils(path: Path, content: Content, root: Path) -> None:
    """Write all rows of a full build in bulk."""
    import sqlite_utils

    database = sqlite_utils.Database(str(path))
    connection: sqlite3.Connection = database.conn
    connection.executescript("PRAGMA synchronous=OFF; PRAGMA journal_mode=OFF")  # the file is disposable and gets its name only when it is complete
    connection.executescript(schema.TABLES)
    with connection:
        for table, rows in _tables(content, root):
            if table == "term":  # a row a token, a dozen times as many as entries: sqlite-utils takes four times as long for them
                insert(connection, table, rows)
            elif rows:
                database.table(table).insert_all(rows, batch_size=1000)
    connection.close()


def _tables(content: Content, root: Path) -> list[tuple[str, list[dict[str, Any]]]]:
    terms = [{"token": token, "entries": len(values), "postings": packed(values)} for token, values in sorted(content.postings.items())]
    meta = [{"key": "version", "value": schema.VERSION}, {"key": "root", "value": os.path.realpath(root)}]
    return [("file", content.files), ("domain", content.domains), ("entry", content.entries), ("card", content.cards), ("term", terms), ("meta", meta)]


def insert(connection: sqlite3.Connection, table: str, rows: Iterable[dict[str, Any]]) -> None:
    """Insert rows that all have the same columns."""
    rows = list(rows)
    if rows:
        names = list(rows[0])
        marks = ",".join("?" * len(names))
        connection.executemany(f"INSERT OR REPLACE INTO {table} ({','.join(names)}) VALUES ({marks})", [tuple(row.values()) for row in rows])


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
        for table, rows in (("file", content.files), ("domain", content.domains), ("entry", content.entries), ("card", content.cards)):
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
    edits.remove(relative, number, token_parts(from_json(profile), entry_id))

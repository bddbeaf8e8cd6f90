"""Filling an index: a full build with sqlite-utils, an update of changed files with sqlite3, the same rows either way.

A new index is made beside the old one and renamed over it; readers keep what they have opened. Nothing is changed in place.
"""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kbtool.matching import schema
from kbtool.matching.rows import domain_row, entry_row
from kbtool.matching.scan import Stamp

Progress = Callable[[int, int], object]
"""Called with files done and files in all."""


@dataclass
class Content:
    """The rows that a set of files becomes."""

    files: list[dict[str, Any]] = field(default_factory=list)
    entries: list[dict[str, Any]] = field(default_factory=list)
    terms: list[str] = field(default_factory=list)
    """One text a row of `entries`."""
    domains: list[dict[str, Any]] = field(default_factory=list)


def read_files(root: Path, stamps: dict[str, Stamp], progress: Progress | None = None) -> Content:
    """Read the files; one that is broken becomes a file row with its problems, and hides no other."""
    content = Content()
    taken: dict[str, str] = {}
    for done, (relative, stamp) in enumerate(sorted(stamps.items())):
        problems = _read_one(root, relative, content, taken)
        content.files.append({"path": relative, **stamp.row(), "problems": json.dumps(problems, ensure_ascii=False)})
        if progress is not None:
            progress(done + 1, len(stamps))
    return content


def _read_one(root: Path, relative: str, content: Content, taken: dict[str, str]) -> list[list[Any]]:
    from kbtool.knowledge.domains import parse_domain
    from kbtool.knowledge.entry import parse_entry
    from kbtool.knowledge.problems import ERROR, EntryError

    path = root / relative
    domain, _, name = relative.partition("/")
    try:
        data = path.read_bytes()
        if name == "README.md":
            content.domains.append(domain_row(parse_domain(data, path=path), relative))
            return []
        entry = parse_entry(data, path=path, domain=domain)
    except EntryError as error:
        return [[problem.line, problem.message] for problem in error.problems if problem.level == ERROR]
    except OSError as error:
        return [[1, f"can not be read: {error.strerror}"]]
    if entry.id in taken:
        return [[1, f"the id `{entry.id}` is taken by {taken[entry.id]}"]]
    taken[entry.id] = relative
    row, tokens = entry_row(entry, relative)
    content.entries.append(row)
    content.terms.append(" ".join(sorted(tokens)))
    return []


def create_tables(connection: sqlite3.Connection) -> None:
    """Make the empty tables."""
    connection.executescript(schema.TABLES)
    try:
        connection.executescript(schema.FULL_TEXT)
    except sqlite3.OperationalError:
        connection.executescript(schema.WITHOUT_FULL_TEXT)


def fill(connection: sqlite3.Connection, content: Content, root: Path) -> None:
    """Write all rows with sqlite3, into tables that are empty."""
    create_tables(connection)
    for table, rows in _plain_tables(content, root):
        insert(connection, table, rows)
    _insert_entries(connection, content)
    connection.commit()


def fill_with_sqlite_utils(path: Path, content: Content, root: Path) -> None:
    """Write all rows of a full build in bulk."""
    import sqlite_utils

    database = sqlite_utils.Database(str(path))
    connection: sqlite3.Connection = database.conn
    connection.execute("PRAGMA synchronous=OFF")  # the file is disposable and gets its name only when it is complete
    create_tables(connection)
    with connection:
        for table, rows in _plain_tables(content, root):
            if rows:
                database.table(table).insert_all(rows, batch_size=1000)
        _insert_entries(connection, content)
    connection.close()


def _plain_tables(content: Content, root: Path) -> list[tuple[str, list[dict[str, Any]]]]:
    counts = Counter(token for terms in content.terms for token in terms.split(" "))
    return [
        ("file", content.files),
        ("domain", content.domains),
        ("term", [{"token": token, "entries": count} for token, count in sorted(counts.items())]),
        ("meta", [{"key": "version", "value": schema.VERSION}, {"key": "root", "value": os.path.realpath(root)}]),
    ]


def insert(connection: sqlite3.Connection, table: str, rows: Iterable[dict[str, Any]]) -> None:
    """Insert rows that all have the same columns."""
    rows = list(rows)
    if rows:
        names = list(rows[0])
        marks = ",".join("?" * len(names))
        connection.executemany(f"INSERT OR REPLACE INTO {table} ({','.join(names)}) VALUES ({marks})", [tuple(row.values()) for row in rows])


def _insert_entries(connection: sqlite3.Connection, content: Content) -> None:
    first = (connection.execute("SELECT max(number) FROM entry").fetchone()[0] or 0) + 1
    numbers = range(first, first + len(content.entries))
    insert(connection, "entry", [{"number": number, **row} for number, row in zip(numbers, content.entries, strict=True)])
    connection.executemany("INSERT INTO entry_fts (rowid, terms) VALUES (?, ?)", zip(numbers, content.terms, strict=True))


def update(old: Path, new: Path, root: Path, gone: set[str], changed: dict[str, Stamp]) -> None:
    """Write to `new` what `old` becomes when files `gone` are removed and `changed` are read again.

    Raises sqlite3.Error or OSError where the old index is not what it should be: then a full build is due.
    """
    shutil.copyfile(old, new)
    connection = sqlite3.connect(new, isolation_level=None)
    try:
        connection.executescript("PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; BEGIN")
        for relative in sorted(gone | set(changed)):
            _remove(connection, relative)
        for relative in changed:
            _refuse_rival(connection, relative)
        content = read_files(root, changed)
        insert(connection, "file", content.files)
        insert(connection, "domain", content.domains)
        _insert_entries(connection, content)
        for token, count in Counter(token for terms in content.terms for token in terms.split(" ")).items():
            connection.execute(
                "INSERT INTO term (token, entries) VALUES (?, ?) ON CONFLICT (token) DO UPDATE SET entries = entries + excluded.entries", (token, count)
            )
        connection.execute("COMMIT")
    finally:
        connection.close()


def _refuse_rival(connection: sqlite3.Connection, relative: str) -> None:
    """Which of two files with the same id counts is settled by a full build only."""
    name = "/" + relative.rpartition("/")[2]
    if not name.endswith("/README.md") and connection.execute("SELECT 1 FROM file WHERE substr(path, -?) = ?", (len(name), name)).fetchone():
        raise sqlite3.IntegrityError(f"{relative}: the id stands in two domains")


def _remove(connection: sqlite3.Connection, relative: str) -> None:
    name = relative.rpartition("/")[2]
    connection.execute("DELETE FROM file WHERE path = ?", (relative,))
    if name == "README.md":
        connection.execute("DELETE FROM domain WHERE path = ?", (relative,))
        return
    _refuse_rival(connection, relative)
    row = connection.execute("SELECT number, terms FROM entry JOIN entry_fts ON entry_fts.rowid = entry.number WHERE path = ?", (relative,)).fetchone()
    if row is None:
        return
    number, terms = row
    connection.execute("DELETE FROM entry WHERE number = ?", (number,))
    connection.execute("DELETE FROM entry_fts WHERE rowid = ?", (number,))
    tokens = [(token,) for token in terms.split(" ")]
    connection.executemany("UPDATE term SET entries = entries - 1 WHERE token = ?", tokens)
    connection.executemany("DELETE FROM term WHERE token = ? AND entries <= 0", tokens)

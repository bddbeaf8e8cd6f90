"""The journal: one SQLite file in the state folder that remembers matches, misses, verdicts and runs.

What a person's logs contained is redacted before it is kept, every text is capped, and each table keeps its newest rows only. A state
folder that can not be written costs the memory, never the command: the journal then lives in memory and ends with the process.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path

from kbtool import settings
from kbtool.journal.records import LastMatch, Place, RunSummary, VerdictRecord
from kbtool.journal.schema import MIGRATIONS
from kbtool.journal.shapes import shape_of
from kbtool.model import Answer

ROWS_KEPT = 1_000_000
"""Newest rows kept of each table that grows."""

EXCERPT_LIMIT = 16 * 1024
OUTPUT_LIMIT = 64 * 1024
MESSAGE_LIMIT = 2000
PRUNE_EVERY = 500
BUSY_SECONDS = 15.0
"""Seconds that one process waits for others to have written, on a disk that syncs slowly."""


def journal_path() -> Path:
    """Where the journal lies."""
    return settings.state_folder() / "journal.sqlite"


@contextlib.contextmanager
def open_journal() -> Iterator[Journal]:
    """The journal, migrated to this version; in memory where it is switched off (`KB_JOURNAL=off`) or can not be written."""
    connection = _connect()
    try:
        yield Journal(connection)
    finally:
        connection.close()


def _connect() -> sqlite3.Connection:
    if settings.journal_wanted():
        try:
            return _connect_file(journal_path())
        except (OSError, sqlite3.Error):
            pass  # read-only, full or foreign: the command matters more than its memory
    connection = sqlite3.connect(":memory:", isolation_level=None)
    _migrate(connection)
    return connection


def _connect_file(path: Path) -> sqlite3.Connection:
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    if not path.exists():
        os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
    connection = sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None)
    try:
        connection.execute("pragma foreign_keys = on")
        connection.execute("pragma synchronous = normal")
        _migrate(connection)
        if connection.execute("pragma query_only").fetchone()[0] or not os.access(path, os.W_OK):
            raise PermissionError(path)
    except BaseException:
        connection.close()
        raise
    return connection


def _migrate(connection: sqlite3.Connection) -> None:
    """Bring an older file to this version, all or nothing; a newer one is left alone and read as far as it goes."""
    if connection.execute("pragma user_version").fetchone()[0] >= len(MIGRATIONS):
        return
    connection.execute("begin immediate")
    version = connection.execute("pragma user_version").fetchone()[0]
    try:
        for statement in (part for text in MIGRATIONS[version:] for part in _statements(text)):
            connection.execute(statement)
        connection.execute(f"pragma user_version = {max(version, len(MIGRATIONS))}")
        connection.execute("commit")
    except BaseException:
        connection.execute("rollback")
        raise


def _statements(text: str) -> Iterator[str]:
    """Single statements of a script (executescript would commit the transaction they belong to)."""
    pending = ""
    for line in text.splitlines(keepends=True):
        pending += line
        if sqlite3.complete_statement(pending):
            yield pending
            pending = ""


def now() -> str:
    """UTC to the second, as the journal writes it."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


def _kept(text: str, limit: int) -> str:
    """The part of a text that is kept: redacted, then cut in the middle, where it tells least."""
    from kbtool.knowledge.redaction import redact

    text = redact(text).text.encode("utf-8", "replace").decode("utf-8")
    if len(text) <= limit:
        return text
    half = limit // 2 - 1
    return text[:half] + "\n…\n" + text[-half:]


class Journal:
    """An open journal. Writing never raises for a busy or full disk: it returns None instead of a row's number."""

    def __init__(self, connection: sqlite3.Connection):
        self.connection = connection

    def remember_match(self, answer: Answer, *, base: str, terminal: str, source: str = "-", seconds: float | None = None) -> int | None:
        """Keep what was asked and offered, and make it the terminal's last match; a miss is a row with `answered` 0."""
        failure, first = answer.failure, answer.matches[0] if answer.matches else None
        row = (
            now(),
            base,
            source,
            failure.type if failure else "",
            _kept(failure.message, MESSAGE_LIMIT) if failure else "",
            failure.phase.value if failure else "unknown",
            _kept(failure.excerpt, EXCERPT_LIMIT) if failure else "",
            first.domain if first else answer.domain.name if answer.domain else None,
            len(answer.matches),
            first.id if first else None,
            first.score if first else None,
            first.confidence.value if first else None,
            seconds,
            shape_of(failure) if not answer.matches else None,
        )
        with self.writing() as cursor:
            marks = ", ".join("?" * (len(row) + 1))
            cursor.execute(f"insert into matches values ({marks})", (None, *row))
            match_id = cursor.lastrowid
            cursor.executemany(
                "insert into candidates values (?, ?, ?, ?, ?)",
                [(match_id, place, m.id, m.score, m.confidence.value) for place, m in enumerate(answer.matches, start=1)],
            )
            cursor.execute("insert or replace into last values (?, ?, ?)", (base, terminal, match_id))
            self._prune(cursor, "matches", match_id)
            return match_id
        return None

    def last_match(self, *, base: str, terminal: str) -> LastMatch | None:
        """The newest match of this base and terminal."""
        found = self.connection.execute(
            "select id, at, type, message, excerpt, domain from matches where id = (select match_id from last where base = ? and terminal = ?)",
            (base, terminal),
        ).fetchone()
        if found is None:
            return None
        entries = self.connection.execute("select entry from candidates where match_id = ? order by place", (found[0],)).fetchall()
        match_id, at, kind, message, excerpt, domain = found
        return LastMatch(match_id, at, kind, message, excerpt, domain, tuple(entry for (entry,) in entries))

    def remember_verdict(self, record: VerdictRecord, *, base: str, match_id: int | None = None) -> int | None:
        """Keep a check's result with its output."""
        row = (
            now(),
            base,
            record.entry,
            record.check_digest,
            record.verdict.value,
            record.reason,
            record.exit_code,
            record.seconds,
            record.environment,
            _kept(record.output, OUTPUT_LIMIT),
            int(record.recorded),
            match_id,
        )
        return self._insert("verdicts", row)

    def remember_place(self, place: Place) -> None:
        """Keep the environment in which an entry was confirmed; only the newest of each entry is kept."""
        with self.writing() as cursor:
            cursor.execute("insert or replace into places values (?, ?, ?, ?)", place)

    def remember_run(self, run: RunSummary, *, match_id: int | None = None) -> int | None:
        """Keep how a job under `kb run` ended."""
        row = (now(), _kept(run.command, MESSAGE_LIMIT), run.folder, run.exit_code, run.signal, run.seconds, run.stall, match_id)
        return self._insert("runs", row)

    def _insert(self, table: str, row: tuple[object, ...]) -> int | None:
        with self.writing() as cursor:
            cursor.execute(f"insert into {table} values ({', '.join('?' * (len(row) + 1))})", (None, *row))
            row_id = cursor.lastrowid
            self._prune(cursor, table, row_id)
            return row_id
        return None

    @contextlib.contextmanager
    def writing(self) -> Iterator[sqlite3.Cursor]:
        """One transaction; what the disk or another process refuses is rolled back and forgotten."""
        with contextlib.suppress(sqlite3.Error):
            self.connection.execute("begin immediate")
            try:
                yield self.connection.cursor()
                self.connection.execute("commit")
            except BaseException:
                with contextlib.suppress(sqlite3.Error):
                    self.connection.execute("rollback")
                raise

    def _prune(self, cursor: sqlite3.Cursor, table: str, newest: int | None) -> None:
        if newest and newest > ROWS_KEPT and newest % PRUNE_EVERY == 0:
            cursor.execute(f"delete from {table} where id <= ?", (newest - ROWS_KEPT,))

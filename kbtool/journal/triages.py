"""Failures that are being worked on: one open triage for each base and terminal, kept across invocations."""

from __future__ import annotations

import json
from typing import Any

from kbtool.journal.journal import Journal, now
from kbtool.knowledge.redaction import redact

CARRIED_DAYS = 1.0
"""Days for which a triage is gone on with from another terminal."""


def begin_triage(journal: Journal, state: str, *, base: str, terminal: str) -> int | None:
    """Open a triage; an older one of the same base and terminal is closed. Returns its number, None where nothing can be written."""
    with journal.writing() as cursor:
        cursor.execute("update triages set closed = ? where base = ? and terminal = ? and closed is null", (now(), base, terminal))
        cursor.execute("insert into triages (begun, base, terminal, state) values (?, ?, ?, ?)", (now(), base, terminal, _redacted(state)))
        return cursor.lastrowid
    return None


def open_triage(journal: Journal, *, base: str, terminal: str) -> tuple[int, str, str] | None:
    """Number, beginning (UTC) and state of the triage that is open; None where there is none.

    This terminal's own, else the newest of the last day: a person who logs in again, or an agent whose every command has a terminal of
    its own, goes on with the same one.
    """
    row: tuple[int, str, str] | None = journal.connection.execute(
        "select id, begun, state from triages where base = ? and closed is null and (terminal = ? or julianday('now') - julianday(begun) < ?)"
        " order by terminal = ? desc, id desc limit 1",
        (base, terminal, CARRIED_DAYS, terminal),
    ).fetchone()
    return row


def keep_triage(journal: Journal, number: int, state: str, *, closed: bool = False) -> None:
    """Remember the new state of a triage, redacted."""
    with journal.writing() as cursor:
        cursor.execute("update triages set state = ?, closed = ? where id = ?", (_redacted(state), now() if closed else None, number))


def _redacted(state: str) -> str:
    """A state without secrets: each of its texts by itself, so that it stays JSON."""

    def cleaned(value: Any) -> Any:
        if isinstance(value, str):
            return redact(value).text
        if isinstance(value, list):
            return [cleaned(item) for item in value]
        return {name: cleaned(item) for name, item in value.items()} if isinstance(value, dict) else value

    return json.dumps(cleaned(json.loads(state)), ensure_ascii=False)

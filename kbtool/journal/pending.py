"""Verdicts that could not be written into their entry (a read-only base, a full disk): found again, and marked when they are."""

from __future__ import annotations

import contextlib
import sqlite3
from dataclasses import dataclass

from kbtool.journal.journal import Journal
from kbtool.model import Verdict


@dataclass(frozen=True)
class PendingVerdict:
    """A verdict that only the journal has. `at` is UTC as the journal writes it."""

    row: int
    at: str
    entry: str
    check_digest: str
    verdict: Verdict
    reason: str
    exit_code: int | None
    seconds: float | None
    environment: str


def pending_verdicts(journal: Journal, entry: str | None = None) -> list[PendingVerdict]:
    """Unrecorded verdicts, oldest first; of one entry where it is named."""
    found = journal.connection.execute(
        "select id, at, entry, check_digest, verdict, reason, exit_code, seconds, environment from verdicts"
        " where recorded = 0 and (? is null or entry = ?) order by id",
        (entry, entry),
    )
    return [PendingVerdict(row, at, entry, digest, Verdict(verdict), *rest) for row, at, entry, digest, verdict, *rest in found]


def mark_recorded(journal: Journal, row: int) -> None:
    """The entry has this verdict now."""
    with contextlib.suppress(sqlite3.Error):
        journal.connection.execute("update verdicts set recorded = 1 where id = ?", (row,))

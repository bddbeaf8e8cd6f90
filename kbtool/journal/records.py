"""The rows of the journal, as the rest of kb sees them."""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

from kbtool.model import Verdict


class LastMatch(NamedTuple):
    """What was asked last in this terminal: the failure's telling lines and the entries offered, best first."""

    id: int
    at: str
    type: str
    message: str
    excerpt: str
    domain: str | None
    entries: tuple[str, ...]


class Keeping(IntEnum):
    """Whether the entry has an outcome for a verdict too."""

    WAITS = 0
    """It could not be written, and waits for `kb verify --pending`."""
    ENTRY = 1
    NOTHING = 2
    """The check did not run: there is no outcome."""


class VerdictRecord(NamedTuple):
    """A check that was asked: what it said, where, and its output (redacted and capped before it is kept)."""

    entry: str
    check_digest: str
    verdict: Verdict
    reason: str
    exit_code: int | None
    seconds: float | None
    environment: str
    output: str
    recorded: Keeping


class Place(NamedTuple):
    """Where an entry was last confirmed: the time and short fingerprint of the outcome, and all facts as redacted JSON."""

    entry: str
    at: str
    environment: str
    facts: str


class RunSummary(NamedTuple):
    """A job that ended: where its records lie and how it ended. `seconds` is its wall time."""

    command: str
    folder: str
    exit_code: int | None
    signal: str | None
    seconds: float
    stall: str | None = None

"""What can go wrong, and with which exit status a command then ends.

Library functions raise `KbError`; only `kbtool.cli` prints it and exits.
"""

from __future__ import annotations

from enum import IntEnum


class ExitStatus(IntEnum):
    """The exit codes of kb; scripts rely on them."""

    OK = 0
    """Match found, check confirmed, entry valid."""
    NEGATIVE = 1
    """Nothing found, check refuted, findings or work due."""
    ERROR = 2
    """Bad usage, unreadable input, or not allowed."""
    INCONCLUSIVE = 3
    """A check could not answer."""
    BUG = 70
    """kb itself failed; a report file was written."""
    STALL_KILLED = 124
    """`kb run` was asked to kill a stalled job and did."""
    INTERRUPTED = 130
    """Ctrl-C."""


class KbError(Exception):
    """An expected failure: one sentence that says what happened and where, and a hint with the one command that helps."""

    def __init__(self, message: str, *, hint: str | None = None, status: ExitStatus = ExitStatus.ERROR):
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.status = status


class NotAllowedError(KbError):
    """A check has no consent, and nobody is at a terminal to give it."""


class RefusedError(KbError):
    """A write that would have lost something: the file changed meanwhile, or the check is no longer the one that ran."""

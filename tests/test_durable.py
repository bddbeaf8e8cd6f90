"""Locks: served in turn, given up in time, and free again whatever becomes of the one who waited."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from kbtool.durable import locked
from kbtool.errors import KbError


def test_who_waits_is_told_and_served(tmp_path: Path) -> None:
    """A second holder waits, says so once, and gets the lock when the first one lets go."""
    holds, may_end = threading.Event(), threading.Event()

    def first() -> None:
        with locked(tmp_path):
            holds.set()
            may_end.wait(60)

    thread = threading.Thread(target=first)
    thread.start()
    assert holds.wait(60)
    told: list[int] = []

    def waiting() -> None:
        told.append(1)
        may_end.set()

    with locked(tmp_path, waiting=waiting):
        assert told == [1]
    thread.join()


def test_a_waiter_that_gave_up_leaves_the_lock_free(tmp_path: Path) -> None:
    """After the deadline it is an error with the path; the lock, granted too late, is not kept by anybody."""
    with locked(tmp_path), pytest.raises(KbError, match="has held this lock for more than 0.05 s"), locked(tmp_path, deadline=0.05):
        pass
    for _ in range(3):
        with locked(tmp_path, deadline=30):
            pass

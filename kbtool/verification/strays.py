"""Processes of a check whose warden was killed: found by a mark in their environment, and ended.

A check may kill its parent, and the kernel's memory killer may choose it. What it had started then belongs to nobody any more.
"""

from __future__ import annotations

import os
import signal
import time

MARK = "KB_CHECK"
"""The environment variable that every process of a check inherits; its value is different for each run."""

PATIENCE = 2.0
"""Seconds to go on looking: a process may be in the middle of starting another."""


def end_strays(mark: str) -> int:
    """Kill every process that carries `mark`; returns how many are left (0 where the system has no /proc to look in)."""
    deadline = time.monotonic() + PATIENCE
    clean = 0
    while True:
        found = [pid for pid in _processes() if _carries(pid, mark)]
        for pid in found:
            _kill(pid, mark)
        clean = 0 if found else clean + 1
        if clean == 2 or time.monotonic() > deadline:
            return len(found)
        time.sleep(0.01)


def _processes() -> list[int]:
    try:
        return [int(name) for name in os.listdir("/proc") if name.isdigit() and int(name) != os.getpid()]
    except OSError:
        return []


def _carries(pid: int, mark: str) -> bool:
    """Whether a process, zombies left out (their environment is gone), was started with `mark`."""
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:
            return f"{MARK}={mark}".encode() in file.read().split(b"\0")
    except OSError:
        return False


def _kill(pid: int, mark: str) -> None:
    """Kill through a handle that was taken before the mark was looked at again: the number may have gone to a stranger."""
    try:
        handle = os.pidfd_open(pid)
    except (OSError, AttributeError):
        return
    try:
        if _carries(pid, mark):
            signal.pidfd_send_signal(handle, signal.SIGKILL)
    except OSError:
        pass
    finally:
        os.close(handle)

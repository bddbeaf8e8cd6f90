"""The job's processes: who belongs to it, and how nothing of it is left running.

kb makes itself the one who inherits orphans (a "subreaper"), so that a grandchild that starts its own session still comes home
instead of going to PID 1. A process is signalled only while it is known to be unreaped: kb alone can reap it.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import subprocess
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from kbtool.supervision.interrupts import interrupts_held

_PR_SET_CHILD_SUBREAPER = 36
_END_BY_THEMSELVES = 0.5
_AFTER_TERM = 2.0
_POLL = 0.02


def adopt_orphans() -> bool:
    """Ask the kernel to make kb the parent of its descendants' orphans; False where it can't."""
    try:
        return bool(ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0)
    except (OSError, AttributeError):
        return False


def children_of(pid: int) -> list[int]:
    """Direct children of a process, of all its threads; empty when it has gone."""
    found: list[int] = []
    with contextlib.suppress(OSError):
        for task in os.listdir(f"/proc/{pid}/task"):
            with contextlib.suppress(OSError), open(f"/proc/{pid}/task/{task}/children", "rb") as file:
                found.extend(int(child) for child in file.read().split())
    return found


def descendants_of(pid: int) -> list[int]:
    """All processes below `pid`, parents before their children."""
    found: list[int] = []
    queue = children_of(pid)
    while queue:
        child = queue.pop(0)
        if child not in found:
            found.append(child)
            queue.extend(children_of(child))
    return found


@dataclass
class Family:
    """The job's process `leader`, all that descends from it, and kb's own helper processes, which do not count."""

    leader: int
    status: int | None = None
    """The leader's wait status once it has ended."""
    _helpers: set[int] = field(default_factory=set)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def members(self) -> list[int]:
        """Living processes of the job: the leader first, then its descendants, then adopted orphans and theirs."""
        with self._lock:
            roots = [pid for pid in children_of(os.getpid()) if pid not in self._helpers]
        roots.sort(key=lambda pid: pid != self.leader)
        found: list[int] = []
        for root in roots:
            for pid in (root, *descendants_of(root)):
                if pid not in found:
                    found.append(pid)
        return found

    def reap(self) -> bool:
        """Collect whoever of the job has ended; True once the leader has."""
        if self.status is None:
            pid, status = os.waitpid(self.leader, os.WNOHANG)
            if pid == self.leader:
                self.status = status
        self._reap_orphans()
        return self.status is not None

    def _reap_orphans(self) -> None:
        with self._lock:
            orphans = [pid for pid in children_of(os.getpid()) if pid != self.leader and pid not in self._helpers]
        for pid in orphans:
            with contextlib.suppress(ChildProcessError):
                os.waitpid(pid, os.WNOHANG)

    def signal_leader(self, number: int) -> None:
        """Hand a signal to the job's first process, as a caller who knows only its PID would."""
        if self.status is None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.leader, number)

    def signal_group(self, number: int) -> None:
        """Hand a signal to the job's process group, as its terminal would."""
        if self.status is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.leader, number)

    def end(self, *, patience: float = _END_BY_THEMSELVES) -> list[int]:
        """End all of the job that still runs: wait `patience` seconds, then SIGTERM, then SIGKILL; returns who had to be told."""
        left = self._wait_gone(patience)
        if not left:
            return []
        self._signal_all(left, signal.SIGTERM)
        self._signal_all(left, signal.SIGCONT)
        survivors = self._wait_gone(_AFTER_TERM)
        deadline = time.monotonic() + _AFTER_TERM
        while survivors and time.monotonic() < deadline:
            self._signal_all(survivors, signal.SIGKILL)
            survivors = self._wait_gone(0.1)
        return left

    def _wait_gone(self, seconds: float) -> list[int]:
        deadline = time.monotonic() + seconds
        while True:
            self.reap()
            left = [pid for pid in self.members() if pid != self.leader or self.status is None]
            if not left or time.monotonic() >= deadline:
                return left
            time.sleep(_POLL)

    def _signal_all(self, pids: Sequence[int], number: int) -> None:
        for pid in pids:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, number)

    def run_helper(self, command: Sequence[str], *, timeout: float) -> subprocess.CompletedProcess[bytes] | None:
        """Run a program for kb itself (py-spy, nvidia-smi), kept apart from the job; None when it is missing or takes too long."""
        process: subprocess.Popen[bytes] | None = None
        try:
            with interrupts_held(), self._lock:
                process = subprocess.Popen(
                    command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
                )
                self._helpers.add(process.pid)
            out, err = process.communicate(timeout=timeout)
            return subprocess.CompletedProcess(list(command), process.returncode, out, err)
        except (OSError, subprocess.TimeoutExpired):
            return None
        finally:
            if process is not None:
                self._dismiss(process)

    def _dismiss(self, process: subprocess.Popen[bytes]) -> None:
        if process.returncode is None:  # too slow, or kb is being interrupted
            process.kill()
            process.communicate()
        with self._lock:
            self._helpers.discard(process.pid)

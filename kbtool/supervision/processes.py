"""One look at the job's processes through /proc: CPU, I/O, memory, threads, states. Reading changes nothing in them."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable
from dataclasses import dataclass

_TICKS = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100
_PAGE = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096


@dataclass(frozen=True)
class ProcessSample:
    """What one process had used at one moment; all counters only grow."""

    pid: int
    parent: int
    name: str
    state: str
    """``R`` running, ``S`` sleeping, ``D`` in the kernel, ``T`` stopped, ``t`` traced, ``Z`` ended."""
    cpu: float
    """Seconds of user and system time of all its threads."""
    main_cpu: float
    """Seconds of its main thread."""
    threads: int
    rss: int
    """Bytes of memory."""
    written: int
    """Bytes given to write calls."""
    read: int
    """Bytes got from read calls."""
    storage: int
    """Bytes really read from or written to storage."""
    main_written: int
    """Bytes given to write calls by its main thread."""


def sample(pids: Iterable[int]) -> dict[int, ProcessSample]:
    """A look at each of `pids`; those that have ended meanwhile are left out."""
    found = {}
    for pid in pids:
        with contextlib.suppress(OSError, ValueError, IndexError):
            found[pid] = _sample_one(pid)
    return found


def _sample_one(pid: int) -> ProcessSample:
    name, fields = read_stat(f"/proc/{pid}/stat")
    _, main = read_stat(f"/proc/{pid}/task/{pid}/stat")
    io = _read_io(f"/proc/{pid}/io")
    main_io = _read_io(f"/proc/{pid}/task/{pid}/io")
    return ProcessSample(
        pid,
        int(fields[1]),
        name,
        fields[0],
        (int(fields[11]) + int(fields[12])) / _TICKS,
        (int(main[11]) + int(main[12])) / _TICKS,
        int(fields[17]),
        int(fields[21]) * _PAGE,
        io.get("wchar", 0),
        io.get("rchar", 0),
        io.get("read_bytes", 0) + io.get("write_bytes", 0),
        main_io.get("wchar", 0),
    )


def read_stat(path: str) -> tuple[str, list[str]]:
    """The name in a stat file and the fields behind it, state first. Raises OSError when the process has gone."""
    with open(path, "rb") as file:
        text = file.read().decode("utf-8", "replace")
    return text[text.index("(") + 1 : text.rindex(")")], text[text.rindex(")") + 2 :].split()


def state_of(pid: int, thread: int | None = None) -> str:
    """The kernel's letter for a thread (default: the main one), as in `ProcessSample.state`; ``?`` when it has gone."""
    with contextlib.suppress(OSError, ValueError, IndexError):
        return read_stat(f"/proc/{pid}/task/{thread or pid}/stat")[1][0]
    return "?"


def _read_io(path: str) -> dict[str, int]:
    """The counters of an io file; empty where the kernel does not show them to this user."""
    try:
        with open(path, "rb") as file:
            return {name.decode(): int(value) for name, value in (line.split(b":") for line in file)}
    except (OSError, ValueError):
        return {}


def command_line(pid: int) -> list[str]:
    """The words of a process's command; empty when it has gone."""
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            return [word.decode("utf-8", "replace") for word in file.read().rstrip(b"\0").split(b"\0")]
    except OSError:
        return []


def catches(pid: int, number: int) -> bool:
    """True while the process has a handler for the signal; one without would be ended by it."""
    try:
        with open(f"/proc/{pid}/status", "rb") as file:
            caught = next(line for line in file if line.startswith(b"SigCgt:"))
    except (OSError, StopIteration):
        return False
    return bool(int(caught.split()[1], 16) >> (number - 1) & 1)

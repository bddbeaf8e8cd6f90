"""How a job ended, explained from evidence: signals, the kernel's count of killed processes, /dev/shm, the last stack before a crash."""

from __future__ import annotations

import contextlib
import os
import re
import signal
from dataclasses import dataclass
from pathlib import Path

from kbtool.quantities import plural

MEANINGS = {
    "SIGKILL": "killed from outside (SIGKILL): the kernel's out-of-memory killer, a scheduler, or somebody",
    "SIGBUS": "bus error (SIGBUS): memory behind a mapped file was not there, most often a full /dev/shm",
    "SIGSEGV": "segmentation fault (SIGSEGV): native code touched memory that is not its own",
    "SIGABRT": "aborted (SIGABRT): native code gave up, its message stands above",
    "SIGILL": "illegal instruction (SIGILL): a binary built for another processor",
    "SIGFPE": "arithmetic fault (SIGFPE) in native code",
    "SIGTERM": "asked to end (SIGTERM)",
    "SIGHUP": "its terminal went away (SIGHUP)",
    "SIGXCPU": "used up its CPU time limit (SIGXCPU)",
}
"""What a signal usually means for such jobs."""

_ENOUGH = 0.9
_FATAL = re.compile(r"^Fatal Python error: .*$", re.MULTILINE)
_SHOWN_LINES = 14


@dataclass(frozen=True)
class Counters:
    """How often the kernel has killed for want of memory: in this control group, and on the whole machine."""

    group: int | None = None
    machine: int | None = None


def count_memory_kills() -> Counters:
    """Both counters as they stand; None where they can not be read."""
    return Counters(_group_kills(), _value_in(Path("/proc/vmstat"), "oom_kill"))


def _group_kills() -> int | None:
    with contextlib.suppress(OSError):
        for line in Path("/proc/self/cgroup").read_text().splitlines():
            _, controllers, path = line.split(":", 2)
            for file in _event_files(controllers, path):
                value = _value_in(file, "oom_kill")
                if value is not None:
                    return value
    return None


def _event_files(controllers: str, path: str) -> tuple[Path, ...]:
    root = Path("/sys/fs/cgroup")
    if controllers == "":
        return tuple(base / path.lstrip("/") / "memory.events" for base in (root, root / "unified")) + (root / "memory.events",)
    if "memory" in controllers.split(","):
        return (root / "memory" / path.lstrip("/") / "memory.oom_control", root / "memory" / "memory.oom_control")
    return ()


def _value_in(file: Path, name: str) -> int | None:
    with contextlib.suppress(OSError, ValueError):
        for line in file.read_text().splitlines():
            if line.split()[:1] == [name]:
                return int(line.split()[1])
    return None


def name_of_signal(status: int) -> str | None:
    """The signal that ended the job itself, or that its exit code reports for a child (129 to 192)."""
    number = os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status) - 128
    with contextlib.suppress(ValueError):
        return signal.Signals(number).name
    return None


def shell_code(status: int) -> int:
    """The exit code as a shell shows it."""
    return 128 + os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)


def describe(status: int, before: Counters, folder: Path | None) -> list[str]:
    """Sentences about an end that was no success: the signal's meaning, and whatever evidence there is for its cause."""
    name = name_of_signal(status)
    told = [MEANINGS[name]] if name in MEANINGS else []
    if name == "SIGKILL" or not told:
        told += _memory_evidence(before, count_memory_kills())
    if name == "SIGBUS":
        told += _shared_memory_evidence()
    return told + (fatal_stack(folder) if folder else [])


def _memory_evidence(before: Counters, after: Counters) -> list[str]:
    for label, was, now in (("this control group", before.group, after.group), ("this machine", before.machine, after.machine)):
        if was is not None and now is not None and now > was:
            return [f"the kernel killed {plural(now - was, 'process', 'processes')} of {label} for want of memory while it ran"]
    return []


def _shared_memory_evidence() -> list[str]:
    with contextlib.suppress(OSError):
        place = os.statvfs("/dev/shm")
        size, free = place.f_blocks * place.f_frsize, place.f_bavail * place.f_frsize
        state = "full" if size and free < (1 - _ENOUGH) * size else "not full now, but freed when its users died"
        return [f"/dev/shm holds {size >> 20} MiB, {free >> 20} MiB free ({state})"]
    return []


def fatal_stack(folder: Path) -> list[str]:
    """The Python stack that a dying process left in the run's folder, shortened."""
    for path in sorted(folder.glob("stacks-*.txt")):
        with contextlib.suppress(OSError):
            text = path.read_text(encoding="utf-8", errors="replace")
            if found := _FATAL.search(text):
                lines = text[found.start() :].splitlines()
                return [f"PID {path.stem.partition('-')[2]}: {lines[0]}", *(line for line in lines[1:_SHOWN_LINES] if line)]
    return []

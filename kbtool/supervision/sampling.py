"""A sampled profile of a running job: py-spy looks many times a second, reading memory only, and counts where each thread stood."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from kbtool.supervision.family import Family
from kbtool.supervision.stacks import Frame, complaint, py_spy

RATE = 50
"""Looks a second: enough for shares to the percent in some seconds, and hardly any load."""

PATIENCE = 20.0
"""Seconds beyond the duration that py-spy gets to find the process and to write."""

_PROCESS = re.compile(r'^process (?P<pid>\d+):"')
_THREAD = re.compile(r"^thread \((?P<id>\w+)\)(?:: (?P<name>.*))?$")
_FRAME = re.compile(r"^(?P<function>.*) \((?P<file>.*?)(?::(?P<line>\d+))?\)$")


@dataclass(frozen=True)
class Stack:
    """One stack of one thread, outermost frame first, and at how many looks it was seen."""

    pid: int
    thread: str
    frames: tuple[Frame, ...]
    count: int

    @property
    def main(self) -> bool:
        """True for the thread that the program started in."""
        return self.thread == "MainThread"


@dataclass(frozen=True)
class Profile:
    """What was seen over `seconds`; `note` says why it is empty."""

    seconds: float
    stacks: tuple[Stack, ...] = ()
    note: str = ""


def sample_profile(pid: int, seconds: float) -> Profile:
    """Sample all Python threads of a process and its descendants. Never raises for a missing tool or permission: the note tells."""
    program = py_spy()
    if program is None:
        return Profile(seconds, note="no profile: py-spy is not installed (`pip install py-spy`)")
    with tempfile.TemporaryDirectory(prefix="kb-profile-") as folder:
        place = Path(folder) / "stacks"
        options = ["--nonblocking", "--subprocesses", "--idle", "--threads", "--full-filenames", "--format", "raw", "--rate", str(RATE)]
        command = [program, "record", *options, "--duration", str(max(round(seconds), 1)), "--output", str(place), "--pid", str(pid)]
        done = Family(pid).run_helper(command, timeout=seconds + PATIENCE)
        text = place.read_text(encoding="utf-8", errors="replace") if place.exists() else ""
    if not text:
        return Profile(seconds, note=f"no profile: py-spy {complaint(done.stderr if done else None)}")
    return Profile(seconds, _with_mains(list(parse_stacks(text, pid))))


def _with_mains(stacks: list[Stack]) -> tuple[Stack, ...]:
    """Threads have names only where `threading` was imported: whoever is alone in a process is its main one."""
    threads: dict[int, set[str]] = {}
    for stack in stacks:
        threads.setdefault(stack.pid, set()).add(stack.thread)
    return tuple(replace(stack, thread="MainThread") if len(threads[stack.pid]) == 1 else stack for stack in stacks)


def parse_stacks(text: str, pid: int) -> Iterator[Stack]:
    """Stacks in py-spy's raw format: frames from the outside in, separated by semicolons, and a count; its first parts name process and thread."""
    for line in text.splitlines():
        path, _, count = line.rpartition(" ")
        if not count.isdigit():
            continue
        process, thread, frames = pid, "", []
        for part in split_frames(path):
            if found := _PROCESS.match(part):
                process = int(found["pid"])
            elif found := _THREAD.match(part):
                thread = found["name"] or ("MainThread" if found["id"] == str(process) else found["id"])
            elif found := _FRAME.match(part):
                frames.append(Frame(found["function"], found["file"], int(found["line"] or 0)))
        yield Stack(process, thread, tuple(frames), int(count))


def split_frames(path: str) -> list[str]:
    """The parts between semicolons, those inside the quotes of a process's command line apart."""
    parts = [""]
    quoted = False
    for character in path:
        if character == '"' and parts[-1].startswith("process "):
            quoted = not quoted
        if character == ";" and not quoted:
            parts.append("")
        else:
            parts[-1] += character
    return parts

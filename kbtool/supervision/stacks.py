"""Python stacks of running processes, got in the least harmful way, and grouped so that the odd one stands first.

First the process's own faulthandler, by the signal that its startup record announced; then one `py-spy dump --nonblocking`, which
only reads memory. Whatever keeps a stack away is told in one sentence.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import sys
import time
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from kbtool.supervision.family import Family
from kbtool.supervision.processes import catches, command_line, state_of
from kbtool.supervision.python_command import is_python, isolation_of
from kbtool.supervision.startup_record import ProcessRecord

DUMP_DEADLINE = 2.0
_SETTLED = 0.1
_SETTLED_RUNNING = 0.5
"""Seconds without a further byte after which a dump is whole; a process that would run may just be waiting for a core in the middle of it."""

_PY_SPY_DEADLINE = 10.0

_FRAME = re.compile(r'^  File "(?P<file>.*)", line (?P<line>\d+|\?\?\?) in (?P<function>.*)$')
_THREAD = re.compile(r"^(?:Current thread|Thread) (?P<id>0x[0-9a-f]+)(?: \[(?P<name>.*)\])? \(most recent call first\):$")
_LIBRARY = re.compile(r"(?:^<|/lib(?:64)?/python\d|/(?:site|dist)-packages/|/importlib/)")


@dataclass(frozen=True)
class Frame:
    """One level of a Python stack."""

    function: str
    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.function} ({self.file}:{self.line})"

    @property
    def of_import_system(self) -> bool:
        """True for the frames between an import statement and the module's own code."""
        return self.file.startswith("<frozen importlib") or self.file.endswith("/importlib/__init__.py")

    @property
    def in_library(self) -> bool:
        """True for the standard library and installed packages."""
        return bool(_LIBRARY.search(self.file))


@dataclass(frozen=True)
class ThreadStack:
    """The stack of one thread, innermost frame first."""

    pid: int
    thread: str
    main: bool
    frames: tuple[Frame, ...]


@dataclass(frozen=True)
class Member:
    """Who shares a stack: a process, its rank when it has one, and the thread."""

    pid: int
    rank: int | None
    thread: str


@dataclass(frozen=True)
class StackGroup:
    """Threads that stand at the same place."""

    frames: tuple[Frame, ...]
    members: tuple[Member, ...]
    main: bool


@dataclass(frozen=True)
class Capture:
    """The stacks got, and a sentence for each process whose stack could not be had."""

    stacks: tuple[ThreadStack, ...]
    notes: tuple[str, ...] = ()


def capture(pids: Iterable[int], records: Mapping[int, ProcessRecord], family: Family, *, only_faulthandler: bool = False) -> Capture:
    """Stacks of all Python threads of `pids`; programs that are no Python are passed over."""
    stacks: list[ThreadStack] = []
    notes: list[str] = []
    for pid in pids:
        found = _by_faulthandler(records[pid]) if pid in records else ()
        if not found and not only_faulthandler and (pid in records or looks_like_python(pid)):
            found, note = _by_py_spy(pid, family)
            if note:
                notes.append(note)
        stacks.extend(found)
    return Capture(tuple(stacks), tuple(notes))


def looks_like_python(pid: int) -> bool:
    """True when the program of the process is a Python interpreter, by its file's name."""
    with contextlib.suppress(OSError):
        return is_python(os.readlink(f"/proc/{pid}/exe"))
    return False


def _by_faulthandler(record: ProcessRecord) -> tuple[ThreadStack, ...]:
    """Ask the process itself. It is signalled only while its handler is in place and its file still is the announced one."""
    number, path = record.stacks_signal, record.stacks_path
    if number is None or not _may_be_asked(record):
        return ()
    with contextlib.suppress(OSError):
        before = path.stat().st_size
        os.kill(record.pid, number)
        return parse_faulthandler(_await_dump(path, before, record.pid), record.pid)
    return ()


def _may_be_asked(record: ProcessRecord) -> bool:
    try:
        target = os.readlink(f"/proc/{record.pid}/fd/{record.stacks_descriptor}")
    except OSError:
        return False
    same = os.path.realpath(record.stacks_path) == target
    return state_of(record.pid) not in "TtZ?" and same and record.stacks_signal is not None and catches(record.pid, record.stacks_signal)


def _await_dump(path: Path, before: int, pid: int) -> str:
    """What is written behind `before`, once it has stopped growing."""
    deadline = time.monotonic() + DUMP_DEADLINE
    size, changed = before, time.monotonic()
    while time.monotonic() < deadline and (size == before or time.monotonic() - changed < _settled_after(pid)):
        time.sleep(0.01)
        now = path.stat().st_size
        if now != size:
            size, changed = now, time.monotonic()
    with open(path, "rb") as file:
        file.seek(before)
        return file.read().decode("utf-8", "replace")


def _settled_after(pid: int) -> float:
    return _SETTLED_RUNNING if state_of(pid) == "R" else _SETTLED


def parse_faulthandler(text: str, pid: int) -> tuple[ThreadStack, ...]:
    """Stacks in a text that faulthandler wrote; it lists the main thread last."""
    threads: list[tuple[str, list[Frame]]] = []
    for line in text.splitlines():
        if head := _THREAD.match(line):
            threads.append((head["name"] or head["id"], []))
        elif threads and (found := _FRAME.match(line)):
            number = int(found["line"]) if found["line"].isdigit() else 0
            threads[-1][1].append(Frame(found["function"], found["file"], number))
    last = len(threads) - 1
    return tuple(
        ThreadStack(pid, "MainThread" if at == last else name, at == last, tuple(frames))
        for at, (name, frames) in enumerate(threads)
        if frames
    )


def _by_py_spy(pid: int, family: Family) -> tuple[tuple[ThreadStack, ...], str]:
    program = py_spy()
    if program is None:
        return (), f"no Python stack of PID {pid}: {_why_no_record(pid)}, and py-spy is not installed (`pip install py-spy`)"
    done = family.run_helper([program, "dump", "--nonblocking", "--json", "--pid", str(pid)], timeout=_PY_SPY_DEADLINE)
    if done is not None and done.returncode == 0:
        with contextlib.suppress(ValueError, KeyError, TypeError):
            return parse_py_spy(done.stdout, pid), ""
    return (), f"no Python stack of PID {pid}: {_why_no_record(pid)}, and py-spy {complaint(done.stderr if done else None)}"


def py_spy() -> str | None:
    beside = os.path.join(os.path.dirname(sys.executable), "py-spy")
    return beside if os.access(beside, os.X_OK) else shutil.which("py-spy")


def _why_no_record(pid: int) -> str:
    option = isolation_of(command_line(pid))
    return f"started with {option}, so it has no startup record" if option else "it did not answer itself"


def complaint(told: bytes | None) -> str:
    if told is None:
        return "took too long"
    text = told.decode("utf-8", "replace")
    if "ermission" in text or "not permitted" in text:
        if os.path.exists("/.dockerenv"):
            return "may not look at it: start the container with `--cap-add=SYS_PTRACE`"
        return "may not look at it: that needs root, or `sysctl kernel.yama.ptrace_scope=0`"
    return "could not read it: " + " ".join(text.split())[:160]


def parse_py_spy(data: bytes, pid: int) -> tuple[ThreadStack, ...]:
    """Stacks in py-spy's JSON, which names threads only where `threading` was imported. Raises ValueError or KeyError when it is something else."""
    found = []
    threads = json.loads(data)
    for thread in threads:
        frames = tuple(Frame(frame["name"], frame["filename"], int(frame["line"])) for frame in thread["frames"])
        name = thread.get("thread_name") or ("MainThread" if len(threads) == 1 else str(thread.get("os_thread_id") or ""))
        if frames:
            found.append(ThreadStack(pid, name, name == "MainThread" or thread.get("os_thread_id") == pid, frames))
    return tuple(found)


def group(
    stacks: Iterable[ThreadStack],
    ranks: Mapping[int, int | None],
    parents: Collection[int] = (),
    waits_for_peers: Callable[[tuple[Frame, ...]], bool] = lambda frames: False,
) -> list[StackGroup]:
    """Identical stacks together, the telling ones first.

    Main threads stand before others, ranks before their launcher, children before `parents` (who mostly wait for them), and then
    the smallest group: the odd one out. Of equally small groups those come first that do not just wait for their peers.
    """
    members: dict[tuple[Frame, ...], list[Member]] = {}
    mains: set[tuple[Frame, ...]] = set()
    for stack in stacks:
        members.setdefault(stack.frames, []).append(Member(stack.pid, ranks.get(stack.pid), stack.thread))
        if stack.main:
            mains.add(stack.frames)
    groups = [StackGroup(frames, tuple(sharing), frames in mains) for frames, sharing in members.items()]

    def order(one: StackGroup) -> tuple[bool, bool, bool, int, bool]:
        above = all(who.pid in parents for who in one.members)
        return not one.main, not _ranked(one), above, len(one.members), waits_for_peers(one.frames)

    return sorted(groups, key=order)


def _ranked(group: StackGroup) -> bool:
    return any(member.rank is not None for member in group.members)


def telling_frame(frames: tuple[Frame, ...]) -> Frame | None:
    """The innermost frame of the job's own code, else the innermost at all."""
    return next((frame for frame in frames if not frame.in_library), frames[0] if frames else None)

"""The other side of a wait: who holds the lock, who has the other end of the pipe or socket, which child is meant."""

from __future__ import annotations

import contextlib
import os
from dataclasses import dataclass

from kbtool.supervision.family import children_of
from kbtool.supervision.holders import describe, descriptors, holders_of, processes
from kbtool.supervision.processes import read_stat
from kbtool.supervision.sockets import Socket, tcp_sockets
from kbtool.supervision.waits import Wait, lock_holder

_ACCESS_MODE = 3
NAMED = 4
"""Processes that are named; more are counted."""


@dataclass(frozen=True)
class PipeEnd:
    """One process that has a pipe open, and which end."""

    pid: int
    writes: bool


def partner_of(pid: int, wait: Wait) -> str:
    """Who has to do something for this wait to end, in words; empty where that can not be told."""
    if wait.kind == "child":
        return _children(pid)
    if wait.kind == "file lock" and wait.path is not None:
        return _lock(wait.path)
    if wait.path is None:
        return ""
    if wait.path.startswith("pipe:["):
        return _pipe(pid, wait.path, reading="read" in wait.words or "poll" in wait.words or wait.kind == "stdin")
    return _socket(pid, wait.path) if wait.path.startswith("socket:[") else ""


def _children(pid: int) -> str:
    told = []
    for child in children_of(pid):
        with contextlib.suppress(OSError, ValueError):
            name, fields = read_stat(f"/proc/{child}/stat")
            told.append(f"PID {child} ({name}{', stopped' if fields[0] in 'Tt' else ', ended' if fields[0] == 'Z' else ''})")
    return f"its children are {_listed(told)}" if told else "it has no child"


def _lock(path: str) -> str:
    holder = lock_holder(path)
    if holder is None:
        return "who holds it is not shown (another machine, through a network file system?)"
    found = describe(holder)
    if found is None:
        return f"held by PID {holder}, which this user can not see or which has ended"
    return f"held by PID {holder} ({found.name}{', stopped' if found.state in 'Tt' else ''}: {found.command[:80]})"


def _pipe(pid: int, link: str, *, reading: bool) -> str:
    """For a reader the writers count, itself among them: whoever keeps a write end open keeps the end of the data away."""
    others = sorted({end.pid for end in pipe_ends(link) if end.writes == reading})
    verb = "writes to it" if reading else "reads from it"
    if not others:
        return f"nobody else that this user can see {verb}"
    if others == [pid]:
        return f"only it itself {'has a write end open: the end of the data never comes' if reading else 'reads from it'}"
    return f"the other end: {_listed([_named(other) for other in others if other != pid])}"


def pipe_ends(link: str) -> list[PipeEnd]:
    """Everybody who has a pipe open, by its link (``pipe:[123]``)."""
    found = []
    for pid in processes():
        for number, target in descriptors(pid):
            if target == link:
                with contextlib.suppress(OSError, ValueError):
                    found.append(PipeEnd(pid, _open_for_writing(pid, number)))
    return found


def _open_for_writing(pid: int, descriptor: int) -> bool:
    with open(f"/proc/{pid}/fdinfo/{descriptor}", encoding="ascii") as file:
        flags = next(line.split()[1] for line in file if line.startswith("flags:"))
    return int(flags, 8) & _ACCESS_MODE != os.O_RDONLY


def _socket(pid: int, link: str) -> str:
    """The process at the other end, where it is on this machine."""
    inode = link[len("socket:[") : -1]
    table = tcp_sockets(pid)
    own = next((one for one in table if one.inode == inode), None)
    if own is None or own.state == "LISTEN":
        return ""
    other = next((one for one in table if (one.local, one.remote) == (own.remote, own.local) and one.inode != "0"), None)
    return _peer(other) if other else ""


def _peer(other: Socket) -> str:
    pids = holders_of({other.inode}).get(other.inode, [])
    return f"the other end: {_listed([_named(pid) for pid in pids])}" if pids else ""


def _named(pid: int) -> str:
    with contextlib.suppress(OSError, ValueError):
        return f"PID {pid} ({read_stat(f'/proc/{pid}/stat')[0]})"
    return f"PID {pid}"


def _listed(told: list[str]) -> str:
    more = f" and {len(told) - NAMED} more" if len(told) > NAMED else ""
    return ", ".join(told[:NAMED]) + more

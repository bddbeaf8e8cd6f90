"""What a thread waits for, in words: the system call it sits in, and what stands behind its arguments."""

from __future__ import annotations

import contextlib
import errno
import os
import platform
import struct
import time
from dataclasses import dataclass
from pathlib import Path

from kbtool.supervision.processes import state_of

SYSTEM_CALLS = {
    "x86_64": {
        0: "read", 1: "write", 7: "poll", 23: "select", 17: "pread64", 20: "writev", 34: "pause", 35: "nanosleep", 42: "connect", 43: "accept",
        44: "sendto", 45: "recvfrom", 46: "sendmsg", 47: "recvmsg", 61: "wait4", 72: "fcntl", 73: "flock", 74: "fsync", 75: "fdatasync",
        128: "rt_sigtimedwait", 130: "rt_sigsuspend", 202: "futex", 219: "restart", 220: "semtimedop", 230: "clock_nanosleep",
        232: "epoll_wait", 243: "mq_timedreceive", 247: "waitid", 270: "pselect6", 271: "ppoll", 281: "epoll_pwait", 288: "accept4",
        257: "openat", 2: "open", 65: "semop", 441: "epoll_pwait2",
    },
    "aarch64": {
        63: "read", 64: "write", 66: "writev", 67: "pread64", 22: "epoll_pwait", 73: "ppoll", 72: "pselect6", 101: "nanosleep", 203: "connect",
        202: "accept", 206: "sendto", 207: "recvfrom", 211: "sendmsg", 212: "recvmsg", 260: "wait4", 25: "fcntl", 32: "flock", 82: "fsync",
        83: "fdatasync", 137: "rt_sigtimedwait", 133: "rt_sigsuspend", 98: "futex", 128: "restart", 192: "semtimedop", 115: "clock_nanosleep",
        183: "mq_timedreceive", 95: "waitid", 242: "accept4", 56: "openat", 193: "semop", 441: "epoll_pwait2",
    },
}  # fmt: skip
"""Numbers of the system calls in which threads wait, from the kernel's tables for each machine."""

_WAIT_KINDS = {
    "futex": "lock", "semop": "lock", "semtimedop": "lock", "flock": "file lock", "fcntl": "file lock", "wait4": "child", "waitid": "child",
    "nanosleep": "sleep", "clock_nanosleep": "sleep", "pause": "signal", "rt_sigtimedwait": "signal", "rt_sigsuspend": "signal",
    "poll": "events", "ppoll": "events", "select": "events", "pselect6": "events", "epoll_wait": "events", "epoll_pwait": "events",
    "epoll_pwait2": "events", "fsync": "disk", "fdatasync": "disk", "connect": "network", "accept": "network", "accept4": "network",
    "mq_timedreceive": "queue", "restart": "sleep", "open": "open", "openat": "open",
}  # fmt: skip
_ON_DESCRIPTOR = {
    "read", "write", "writev", "pread64", "recvfrom", "recvmsg", "sendto", "sendmsg", "connect", "accept", "accept4", "flock", "fcntl", "fsync", "fdatasync"
}  # fmt: skip
_WORDS = {
    "lock": "a lock or condition of another thread or process (futex)",
    "child": "a child process to end",
    "sleep": "its own timer (sleep)",
    "signal": "a signal",
    "events": "events on its descriptors (poll)",
    "queue": "a message queue",
    "open": "a file to be opened (a pipe without the other end?)",
}


_INSTANT = 1.0
"""Seconds within which a process that only polls is seen waiting, also where it has to queue for a core to look."""


@dataclass(frozen=True)
class Wait:
    """What one thread waits for."""

    kind: str
    """``lock``, ``file lock``, ``child``, ``sleep``, ``stdin``, ``pipe``, ``network``, ``requests`` (of a listening socket), ``disk``, ``events``, ``signal``, ``stopped``, ``running`` or ``unknown``."""
    words: str
    path: str | None = None


def wait_of(pid: int, thread: int | None = None) -> Wait:
    """What a thread (default: the main one) waits for right now; `unknown` where the kernel does not tell this user."""
    task = f"/proc/{pid}/task/{thread or pid}"
    state = state_of(pid, thread)
    if state == "?":
        return Wait("unknown", "gone")
    if state in "Tt":
        return Wait("stopped", "stopped by a signal or a debugger")
    if state in "RZX":
        return Wait("running", "running" if state == "R" else "ended")
    try:
        with open(f"{task}/syscall", "rb") as file:
            words = file.read().split()
    except OSError as error:
        why = "another user's process, or ptrace is not allowed here" if error.errno in (errno.EACCES, errno.EPERM) else "gone"
        return Wait("unknown", f"not shown by the kernel ({why})")
    if len(words) < 2 or not words[0].isdigit():
        return Wait("running", "running")
    name = SYSTEM_CALLS.get(platform.machine(), {}).get(int(words[0]))
    return _explain(pid, name, [int(word, 16) for word in words[1:7]])


def wait_when_still(pid: int) -> Wait:
    """What the main thread of a process waits for that computes nothing: one that polls runs for an instant now and then, so look again."""
    deadline = time.monotonic() + _INSTANT
    while (wait := wait_of(pid)).words == "running" and time.monotonic() < deadline:
        time.sleep(0.02)
    return wait


def _explain(pid: int, name: str | None, arguments: list[int]) -> Wait:
    if name is None:
        return Wait("unknown", "a system call that kb does not know")
    if name in _ON_DESCRIPTOR:
        return _explain_descriptor(pid, name, arguments[0])
    kind = _WAIT_KINDS[name]
    if kind == "events":
        return _explain_poll(pid, name, arguments)
    return Wait(kind, _WORDS[kind])


def _explain_poll(pid: int, name: str, arguments: list[int]) -> Wait:
    """One polled descriptor says what is waited for, several are just events, and none is how some programs sleep (Python up to 3.10)."""
    if (arguments[1] if name in ("poll", "ppoll") else arguments[0] if name in ("select", "pselect6") else 1) == 0:
        return Wait("sleep", _WORDS["sleep"])
    if name in ("poll", "ppoll") and arguments[1] == 1:
        with contextlib.suppress(OSError, struct.error), open(f"/proc/{pid}/mem", "rb") as memory:
            memory.seek(arguments[0])
            return _explain_descriptor(pid, "poll", struct.unpack("i", memory.read(4))[0])
    return Wait("events", _WORDS["events"])


def _explain_descriptor(pid: int, name: str, descriptor: int) -> Wait:
    try:
        target = os.readlink(f"/proc/{pid}/fd/{descriptor}")
    except OSError:
        target = "?"
    if name == "flock" or (name == "fcntl" and not target.startswith("socket:")):
        return Wait("file lock", f"a file lock on {target}{_holder(target)}", target)
    if target.startswith("socket:"):
        from kbtool.supervision.sockets import peer_of

        peer = peer_of(pid, target)
        return Wait("requests" if peer.startswith("listening") else "network", f"the network: {name} on {peer}", target)
    if descriptor == 0 and name in ("read", "poll"):
        return Wait("stdin", f"its standard input ({_plain(target)})", target)
    if target.startswith(("pipe:", "anon_inode")):
        return Wait("pipe", f"a pipe ({name} on descriptor {descriptor})", target)
    if "/dev/tty" in target or "/dev/pts" in target:
        return Wait("stdin", f"its terminal ({name})", target)
    return Wait("disk", f"{name} on {target}", target)


def _plain(target: str) -> str:
    return "a pipe" if target.startswith("pipe:") else target


def _holder(path: str) -> str:
    holder = lock_holder(path)
    return f", held by PID {holder}" if holder is not None else ""


def lock_holder(path: str) -> int | None:
    """The process that holds the lock on a file, as /proc/locks tells; None where it tells of none."""
    with contextlib.suppress(OSError, ValueError):
        inode = os.stat(path).st_ino
        for line in Path("/proc/locks").read_text().splitlines():
            fields = line.split()
            if "->" not in fields and fields[5].rsplit(":", 1)[1] == str(inode) and int(fields[4]) > 0:
                return int(fields[4])
    return None

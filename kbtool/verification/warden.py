"""The small process between kb and a check: it owns everything the check starts and leaves nothing of it behind.

Started as ``python -I -S warden.py REPORT_FD TIMEOUT LC_CTYPE PROGRAM ARGUMENT…`` with a pipe from kb as its standard input. It becomes the
subreaper of its descendants where the system has such a thing, so that even a daemonised grandchild comes home when its parent
ends; killing a process group alone misses those. It ends the check when the check's main process exits, when the time is up, or
when kb goes away (the pipe closes, also after kill -9), and writes one JSON object to REPORT_FD.

Standard library only and no import of kbtool: it must start in a few milliseconds.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import sys
import time

PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36
"""Numbers of prctl(2), fixed by the Linux kernel's interface."""

KILL_PATIENCE = 1.5
"""Seconds to go on killing; what is left then sits in an uninterruptible system call."""

NOT_STARTED = 127
"""Exit status of a child whose program could not be executed, as a shell gives it."""


def main(arguments: list[str]) -> None:
    """Run one program under watch and report how it ended."""
    report_fd, timeout, character_locale, program = int(arguments[0]), float(arguments[1]), arguments[2], arguments[3:]
    os.set_inheritable(report_fd, False)
    os.environ.pop("LC_CTYPE", None)
    if character_locale:
        os.environ["LC_CTYPE"] = character_locale  # Python may have replaced it for itself at start (PEP 538)
    _prctl(PR_SET_CHILD_SUBREAPER, 1)
    wakeup = _wake_on_child()
    started = time.monotonic()
    child = _start(program)
    status, ended = _wait(child, started + timeout, wakeup)
    seconds = time.monotonic() - started
    left = _end_all(child, reaped=status is not None)
    report = {"status": status, "ended": ended, "seconds": seconds, "left": left}
    with contextlib.suppress(OSError):
        os.write(report_fd, json.dumps(report).encode())


def _prctl(option: int, value: int) -> None:
    if not sys.platform.startswith("linux"):
        return
    with contextlib.suppress(Exception):  # without ctypes or prctl the process group is all there is
        import ctypes

        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


def _wake_on_child() -> int:
    """A descriptor that becomes readable when a child ends."""
    reading, writing = os.pipe()
    os.set_blocking(reading, False)
    os.set_blocking(writing, False)
    signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    return reading


def _start(program: list[str]) -> int:
    child = os.fork()
    if child:
        return child
    try:
        os.setsid()
        _prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)
        for number in (signal.SIGCHLD, signal.SIGPIPE, signal.SIGINT):
            signal.signal(number, signal.SIG_DFL)
        os.execv(program[0], program)
    except OSError as error:
        os.write(2, f"{program[0]}: {error.strerror}\n".encode())
    finally:
        os._exit(NOT_STARTED)


def _wait(child: int, deadline: float, wakeup: int) -> tuple[int | None, str]:
    """Wait status of the child and why waiting ended; orphans that came home are reaped on the way."""
    while True:
        status = _reap(child)
        if status is not None:
            return status, "exit"
        left = deadline - time.monotonic()
        if left <= 0:
            return None, "timeout"
        ready, _, _ = select.select([0, wakeup], [], [], left)
        if 0 in ready and not os.read(0, 1):
            return None, "abandoned"
        if wakeup in ready:
            os.read(wakeup, 512)


def _reap(child: int) -> int | None:
    status = None
    with contextlib.suppress(ChildProcessError):
        while True:
            pid, result = os.waitpid(-1, os.WNOHANG)
            if pid == 0:
                break
            if pid == child:
                status = result
    return status


def _end_all(child: int, *, reaped: bool) -> int:
    """Kill every descendant; returns how many could not be ended."""
    if not os.path.isdir("/proc/self/task"):
        return _end_group(child)
    if not reaped:
        with contextlib.suppress(OSError):
            os.killpg(child, signal.SIGKILL)  # not yet reaped: the number cannot belong to anybody else
    deadline = time.monotonic() + KILL_PATIENCE
    pause = 0.001
    while True:
        _reap(child)
        family = _descendants()
        if not family or time.monotonic() > deadline:
            return len(family)
        for pid in family:
            _kill(pid)
        time.sleep(pause)
        pause = min(pause * 2, 0.02)


def _end_group(child: int) -> int:
    """Where there is no /proc: end the check's own process group, the best that such a system offers."""
    with contextlib.suppress(OSError):
        os.killpg(child, signal.SIGKILL)
    with contextlib.suppress(ChildProcessError):
        os.waitpid(child, 0)
    return 0


def _descendants() -> set[int]:
    """Process ids below this one, zombies of others' children left out: those are not ours to reap."""
    parents: dict[int, int] = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            parent, state = _parent(int(name))
            if parent and state != "Z":
                parents[int(name)] = parent
    family = {os.getpid()}
    while True:
        more = {pid for pid, parent in parents.items() if parent in family} - family
        if not more:
            return family - {os.getpid()}
        family |= more


def _parent(pid: int) -> tuple[int, str]:
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            fields = file.read().rpartition(b")")[2].split()
    except OSError:
        return 0, ""
    return int(fields[1]), fields[0].decode()


def _is_descendant(pid: int) -> bool:
    own = os.getpid()
    while pid > 1:
        pid = _parent(pid)[0]
        if pid == own:
            return True
    return False


def _kill(pid: int) -> None:
    """Kill one descendant and never a stranger who was given its number meanwhile."""
    try:
        handle = os.pidfd_open(pid)
    except (OSError, AttributeError):
        if _parent(pid)[0] == os.getpid():  # a direct child keeps its number until it is reaped here
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        return
    try:
        if _is_descendant(pid):
            signal.pidfd_send_signal(handle, signal.SIGKILL)
    except OSError:
        pass
    finally:
        os.close(handle)


if __name__ == "__main__":
    main(sys.argv[1:])

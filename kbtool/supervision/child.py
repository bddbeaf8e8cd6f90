"""Starting the job: its own session, a terminal where kb has one, pipes elsewhere, and everything else as kb found it.

The fork is done by hand, because the job must get exactly what it would have had without kb: the signal mask from before kb
blocked signals, SIGPIPE as a shell leaves it, the descriptors above 2 that were handed down, and a controlling terminal.
"""

from __future__ import annotations

import contextlib
import errno
import os
import signal
import sys
import termios
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

PIPE_CAPACITY = 1 << 18
"""Bytes a pipe between job and kb may hold: four times the usual, so that a chatty job waits less for kb."""

NOT_FOUND, NOT_EXECUTABLE = 127, 126
"""Exit codes that a shell gives when a command does not exist or can not be executed."""


@dataclass(frozen=True)
class Channel:
    """One way out of the job: what is read from `source` belongs, byte for byte, into `destination`."""

    name: str
    """``stdout``, ``stderr``, ``both`` (they were one file) or ``terminal``."""
    source: int
    destination: int


@dataclass(frozen=True)
class Child:
    """The started job: its process and the ends of its streams that kb holds."""

    pid: int
    channels: tuple[Channel, ...]
    master: int | None
    """kb's end of the job's terminal, None when kb itself has none."""
    reads_terminal: bool
    """True when the job's standard input is that terminal; otherwise the job reads kb's own standard input directly."""


class StartError(Exception):
    """The command could not be executed; `code` is what a shell would exit with."""

    def __init__(self, command: str, error: OSError):
        missing = error.errno in (errno.ENOENT, errno.ENOTDIR)
        super().__init__(f"{command}: " + ("command not found" if missing else os.strerror(error.errno or 0)))
        self.code = NOT_FOUND if missing else NOT_EXECUTABLE


def start(command: Sequence[str], environment: Mapping[str, str], *, mask: Collection[int]) -> Child:
    """Start `command` with the signal mask `mask`: the one that kb had before it blocked signals for itself.

    Raises StartError when the command does not exist or is no program, OSError when no process or terminal can be made.
    """
    terminals = [fd for fd in (0, 1, 2) if os.isatty(fd)]
    master, slave = _open_terminal(terminals[0]) if terminals else (None, None)
    channels, ends = _connect_outputs(terminals, master, slave)
    if 0 in terminals and slave is not None:
        ends[0] = slave
    failure_reader, failure_writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        _become(command, environment, ends, slave, failure_writer, mask)
    os.close(failure_writer)
    for end in {*ends.values(), *([slave] if slave is not None else [])}:
        os.close(end)
    _raise_failure(command[0], pid, failure_reader)
    return Child(pid, tuple(channels), master, reads_terminal=0 in terminals)


def _open_terminal(like: int) -> tuple[int, int]:
    """A terminal for the job with the settings and the size of kb's own."""
    import pty

    master, slave = pty.openpty()
    with contextlib.suppress(termios.error):
        termios.tcsetattr(slave, termios.TCSANOW, termios.tcgetattr(like))
    with contextlib.suppress(termios.error, OSError):
        copy_size(like, master)
    return master, slave


def copy_size(source: int, target: int) -> None:
    """Give the terminal `target` the rows and columns of `source`; the kernel tells its programs by SIGWINCH."""
    import fcntl

    size = fcntl.ioctl(source, termios.TIOCGWINSZ, b"\0" * 8)
    fcntl.ioctl(target, termios.TIOCSWINSZ, size)


def _connect_outputs(terminals: list[int], master: int | None, slave: int | None) -> tuple[list[Channel], dict[int, int]]:
    """The channels to relay, and which descriptor becomes the job's 1 and 2."""
    channels: list[Channel] = []
    ends: dict[int, int] = {}
    if master is not None and slave is not None:
        visible = [fd for fd in (1, 2) if fd in terminals]
        channels.append(Channel("terminal", master, (visible or terminals)[0]))
        ends.update(dict.fromkeys(visible, slave))
    piped = [fd for fd in (1, 2) if fd not in terminals and _is_open(fd)]
    if piped == [1, 2] and os.path.sameopenfile(1, 2):
        reader, writer = _pipe()
        return [*channels, Channel("both", reader, 1)], {**ends, 1: writer, 2: writer}
    for fd in piped:
        reader, ends[fd] = _pipe()
        channels.append(Channel("stdout" if fd == 1 else "stderr", reader, fd))
    return channels, ends


def _is_open(fd: int) -> bool:
    try:
        os.fstat(fd)
    except OSError:
        return False
    return True


def _pipe() -> tuple[int, int]:
    import fcntl

    reader, writer = os.pipe()
    with contextlib.suppress(OSError, AttributeError):
        fcntl.fcntl(writer, fcntl.F_SETPIPE_SZ, PIPE_CAPACITY)
    return reader, writer


def _become(
    command: Sequence[str],
    environment: Mapping[str, str],
    ends: Mapping[int, int],
    slave: int | None,
    failure: int,
    mask: Collection[int],
) -> None:
    """In the new process: take the streams and the terminal, put the signals back, execute. Never returns."""
    import fcntl

    try:
        os.setsid()
        if slave is not None:
            fcntl.ioctl(slave, termios.TIOCSCTTY, 0)
        for fd, end in ends.items():
            os.dup2(end, fd, inheritable=True)
        for ignored_by_python in (signal.SIGPIPE, signal.SIGXFSZ):
            signal.signal(ignored_by_python, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        os.execvpe(command[0], list(command), dict(environment))
    except OSError as error:
        os.write(failure, str(error.errno or errno.EIO).encode())
    finally:
        os._exit(NOT_FOUND)


def _raise_failure(name: str, pid: int, reader: int) -> None:
    """Wait until the new process has become the command; its end of the pipe then closes by itself."""
    with os.fdopen(reader, "rb") as pipe:
        told = pipe.read()
    if told:
        os.waitpid(pid, 0)
        raise StartError(name, OSError(int(told), ""))


def supported() -> bool:
    """True where jobs can be supervised: Linux, because the watch reads /proc and survivors are found by the kernel's help."""
    return sys.platform.startswith("linux")

"""The harmless part of `kb run`: bytes and signals pass through, and the job's end becomes kb's own.

One thread a channel reads and writes; it does nothing else, so that a failure elsewhere in kb can not hold the job up. The main
thread waits for signals. Everything that learns from the job (the watch) looks on from the side.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence

from kbtool.supervision.child import Channel, Child, start
from kbtool.supervision.family import Family, adopt_orphans
from kbtool.supervision.output import Output
from kbtool.supervision.terminal import Terminal

CHUNK = 1 << 17

SWITCH_SECONDS = 0.0005
"""How long the watch may keep the interpreter to itself while bytes wait to be passed: a tenth of Python's default."""

_NOT_FORWARDED = (
    "KILL",
    "STOP",
    "CHLD",
    "CLD",
    "SEGV",
    "BUS",
    "FPE",
    "ILL",
    "TRAP",
    "SYS",
    "PIPE",
    "TTIN",
    "TTOU",
    "PROF",
    "VTALRM",
    "XCPU",
    "XFSZ",
)
"""Can not be caught, or are about kb itself."""

FORWARDED = tuple(sorted(signal.valid_signals() - {getattr(signal, f"SIG{name}", None) for name in _NOT_FORWARDED}, key=int))
"""Signals that kb hands on to the job, real-time ones included."""

_WATCHED = (*FORWARDED, signal.SIGCHLD)
_FROM_TERMINAL = (signal.SIGINT, signal.SIGQUIT)
_GIVE_UP_DRAINING = (signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGHUP)
_SENT_BY_KERNEL = 0x80
_LOOK = 0.5
_DRAIN = 2.0
"""Seconds to wait for the end of an output that somebody outside of the job still holds open."""


class Relay:
    """A running job and kb's hands on it. Make it, `attach` it, `wait` for it."""

    def __init__(self, child: Child, output: Output):
        self.child = child
        self.family = Family(child.pid)
        self.output = output
        self._pumps = [
            threading.Thread(target=self._pump, args=(channel,), name=f"kb-{channel.name}", daemon=True) for channel in child.channels
        ]
        self._writing: set[int] = set()
        self._terminal = _terminal_of(child)
        self.kill_requested = threading.Event()
        """Set by who wants the job ended (a stall that was to be killed)."""

    def attach(self) -> None:
        """Begin to pass bytes and keys."""
        for pump in self._pumps:
            pump.start()
        if self._terminal is not None:
            self._terminal.attach()

    def wait(self) -> int:
        """Pass signals until the job has ended and all it printed is out; returns its wait status. No process of it is left."""
        try:
            while not self.family.reap():
                with contextlib.suppress(OSError):
                    self._pass_signal(_next_signal(_LOOK))
                if self.kill_requested.is_set():
                    self.family.end(patience=0)
            self.left_behind = self.family.end()
            self._drain()
        finally:
            if self._terminal is not None:
                self._terminal.detach()
        assert self.family.status is not None
        return self.family.status

    left_behind: Sequence[int] = ()
    """Processes that the job left running when its first process ended, and that kb ended."""

    def line_end(self) -> str:
        """What ends a line that kb writes to the terminal right now."""
        return "\r\n" if self._terminal is not None and self._terminal.raw() else "\n"

    def _drain(self) -> None:
        """Let each pump read to the end. A slow reader is waited for, as the job would have; a stray holder of the pipe is not."""
        deadline = time.monotonic() + _DRAIN
        while any(pump.is_alive() for pump in self._pumps):
            if self._writing:
                deadline = time.monotonic() + _DRAIN
            elif time.monotonic() > deadline:
                return
            received = _next_signal(0.02)
            if received is not None and received[0] in _GIVE_UP_DRAINING:
                return

    def _pump(self, channel: Channel) -> None:
        with contextlib.suppress(OSError):  # the job's terminal is closed, or the reader has gone: closing tells the job at its next write
            self._pass_bytes(channel.source, channel.destination)
        self._writing.discard(channel.source)
        if channel.name != "terminal":
            os.close(channel.source)

    def _pass_bytes(self, source: int, destination: int) -> None:
        read, write, add, writing = os.read, os.write, self.output.add, self._writing
        while chunk := read(source, CHUNK):
            writing.add(source)
            written = write(destination, chunk)
            while written < len(chunk):
                written += write(destination, chunk[written:])
            writing.discard(source)
            with contextlib.suppress(Exception):  # what kb remembers must never stop what the job prints
                add(chunk)

    def _pass_signal(self, received: tuple[int, bool] | None) -> None:
        if received is None or received[0] == signal.SIGCHLD:
            return
        number, from_kernel = received
        if number == signal.SIGWINCH:
            if self._terminal is not None:
                self._terminal.resize()
        elif number == signal.SIGTSTP:
            self._suspend()
        elif from_kernel and number in _FROM_TERMINAL:
            self.family.signal_group(number)
        else:
            self.family.signal_leader(number)

    def _suspend(self) -> None:
        if self._terminal is not None:
            self._terminal.suspend()
            return
        self.family.signal_group(signal.SIGSTOP)
        os.kill(os.getpid(), signal.SIGSTOP)
        self.family.signal_group(signal.SIGCONT)


def _terminal_of(child: Child) -> Terminal | None:
    if child.master is None:
        return None
    destination = next(channel.destination for channel in child.channels if channel.name == "terminal")
    real = 0 if child.reads_terminal else destination
    return Terminal(real, child.master, output_passes=destination in (1, 2), input_passes=child.reads_terminal)


def _next_signal(timeout: float) -> tuple[int, bool] | None:
    """The next signal sent to kb and whether the kernel (a terminal) sent it; None after `timeout` seconds."""
    received = signal.sigtimedwait(_WATCHED, timeout)
    return None if received is None else (received.si_signo, received.si_code == _SENT_BY_KERNEL)


def launch(command: Sequence[str], environment: Mapping[str, str], output: Output) -> Relay:
    """Start `command` with kb's hands on it. From here on signals to kb are held until `Relay.wait` passes them on.

    Raises StartError when there is no such program.
    """
    adopt_orphans()
    sys.setswitchinterval(SWITCH_SECONDS)
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, _WATCHED)
    try:
        child = start(command, environment, mask=mask)
    except BaseException:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        raise
    relay = Relay(child, output)
    relay.attach()
    return relay


def end_like(status: int, *, exit_: Callable[[int], None] = os._exit) -> None:
    """End this process exactly as the job ended: with its exit code, or by its signal (without a core file of kb's own)."""
    if not os.WIFSIGNALED(status):
        exit_(os.WEXITSTATUS(status))
    import resource

    number = os.WTERMSIG(status)
    with contextlib.suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with contextlib.suppress(OSError, ValueError):
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [number])
    os.kill(os.getpid(), number)
    exit_(128 + number)

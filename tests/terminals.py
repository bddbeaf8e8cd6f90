"""A person at a terminal: the real program on a pseudo-terminal, waited for and typed to."""

from __future__ import annotations

import contextlib
import os
import pty
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

DEADLINE = 60.0
"""Seconds to wait for something to appear; a loaded machine may take long."""


class Terminal:
    """A running program whose standard streams are a terminal."""

    def __init__(self, arguments: Sequence[str | Path], *, cwd: Path, env: dict[str, str] | None = None, stdin: bytes | None = None):
        self.master, slave = pty.openpty()
        environment = {**os.environ, "TERM": "dumb", "COLUMNS": "200", "PYTHONUNBUFFERED": "1", **(env or {})}
        self.piped = stdin is not None
        self.process = subprocess.Popen(
            [sys.executable, "-m", "kbtool", *map(str, arguments)],
            stdin=subprocess.PIPE if self.piped else slave,
            stdout=slave,
            stderr=slave,
            cwd=cwd,
            env=environment,
            preexec_fn=lambda: self._own_terminal(slave),
        )
        os.close(slave)
        if stdin is not None:
            assert self.process.stdin is not None
            self.process.stdin.write(stdin)
            self.process.stdin.close()
        self.seen = ""
        self._at = 0

    def _own_terminal(self, slave: int) -> None:
        import fcntl
        import termios

        os.setsid()
        fcntl.ioctl(slave, termios.TIOCSCTTY, 0)

    def expect(self, text: str) -> str:
        """Wait until `text` appears after what was waited for last; returns what came before it."""
        end = time.monotonic() + DEADLINE
        while (found := self.seen.find(text, self._at)) < 0:
            if time.monotonic() > end or not self._read(end):
                raise AssertionError(f"{text!r} did not appear; seen since: {self.seen[self._at :]!r}")
        before = self.seen[self._at : found]
        self._at = found + len(text)
        return before

    def _read(self, end: float) -> bool:
        ready, _, _ = select.select([self.master], [], [], max(0.0, end - time.monotonic()))
        if not ready:
            return False
        try:
            data = os.read(self.master, 65536)
        except OSError:
            return False
        self.seen += data.decode("utf-8", "replace").replace("\r\n", "\n")
        return bool(data)

    def type(self, text: str) -> None:
        """Type a line."""
        os.write(self.master, (text + "\n").encode("utf-8"))

    def interrupt(self, until: str) -> None:
        """Press Ctrl-C until `until` appears: a line editor that is just being set up may not hear the first one."""
        end = time.monotonic() + DEADLINE
        while until not in self.seen[self._at :] and time.monotonic() < end and self.process.poll() is None:
            os.write(self.master, b"\x03")
            patience = time.monotonic() + 4.0
            while until not in self.seen[self._at :] and time.monotonic() < patience and self._read(patience):
                pass
        self.expect(until)

    def end(self) -> int:
        """Wait for the program's end; returns its exit status."""
        end = time.monotonic() + DEADLINE
        while self._read(end):
            pass
        return self.process.wait(timeout=DEADLINE)

    def close(self) -> None:
        """End what still runs."""
        if self.process.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
        os.close(self.master)


@contextlib.contextmanager
def terminal(*arguments: str | Path, cwd: Path, entries: Path | None = None, env: dict[str, str] | None = None, stdin: bytes | None = None) -> Iterator[Terminal]:
    """`kb` with `arguments` at a terminal; with `stdin`, its input is a pipe and only the person is at the terminal."""
    chosen = ["--entries", str(entries)] if entries else []
    opened = Terminal([*chosen, *arguments], cwd=cwd, env=env, stdin=stdin)
    try:
        yield opened
    finally:
        opened.close()

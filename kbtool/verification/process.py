"""Running one command with limits: own session, deadline, capped output, nothing on standard input, no survivors.

The command is started through the warden (a process of its own), which ends everything it leaves behind; see `warden`.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import selectors
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from kbtool.verification.strays import MARK, end_strays

KEPT_OUTPUT = 64 * 1024
"""Bytes kept of each stream: the first half and the last half."""

OUTPUT_LIMIT = 16 * 1024 * 1024
"""Bytes of output, both streams together, after which the command is ended."""

GRACE = 2.0
"""Seconds beyond the deadline after which the warden itself is given up."""

_CHUNK = 64 * 1024

_running: set[subprocess.Popen[bytes]] = set()


@dataclass(frozen=True)
class Finished:
    """How a command ended. `seconds` counts the command, not its warden.

    `ended` is exit, timeout, output (more than `OUTPUT_LIMIT`), killed (by a signal, `signal` says which), or lost (the warden was
    killed, so that nothing is known). `exit_code` is None unless it exited by itself.
    """

    ended: str
    exit_code: int | None
    signal: int | None
    seconds: float
    stdout: str
    stderr: str


@dataclass
class Stream:
    """A stream's first and last bytes, and how many there were in all."""

    head: bytearray = field(default_factory=bytearray)
    tail: bytearray = field(default_factory=bytearray)
    total: int = 0

    def add(self, data: bytes) -> None:
        """Take more bytes; memory stays at twice `KEPT_OUTPUT`."""
        self.total += len(data)
        room = KEPT_OUTPUT // 2 - len(self.head)
        self.head += data[:room]
        self.tail += data[room:] if room > 0 else data
        if len(self.tail) > KEPT_OUTPUT:
            del self.tail[: -KEPT_OUTPUT // 2]

    def text(self) -> str:
        """What was kept, a line in the middle saying how much was not."""
        tail = bytes(self.tail[-KEPT_OUTPUT // 2 :])
        lost = self.total - len(self.head) - len(tail)
        between = f"\n[{lost} bytes left out]\n".encode() if lost else b""
        return (bytes(self.head) + between + tail).decode("utf-8", "replace")


def run_command(
    program: Sequence[str], *, environment: Mapping[str, str], timeout: float, folder: Path | str | None = None, output_limit: int = OUTPUT_LIMIT
) -> Finished:
    """Run `program` (an absolute path and its arguments) in `folder` for at most `timeout` seconds.

    Raises OSError when the folder is missing or no process can be started.
    """
    if os.name == "nt":
        return _run_plainly(program, environment=environment, timeout=timeout, folder=folder)
    report_end, report_given = os.pipe()
    mark = secrets.token_hex(8)
    try:
        warden = _start_warden(program, report_given, timeout, {**environment, MARK: mark}, folder)
    except BaseException:
        os.close(report_end)
        raise
    finally:
        os.close(report_given)
    finished: Finished | None = None
    _running.add(warden)
    try:
        finished = _watch(warden, report_end, time.monotonic() + timeout + GRACE, output_limit)
    finally:
        _running.discard(warden)
        _dismiss(warden)
        os.close(report_end)
        if finished is None or finished.ended == "lost":
            end_strays(mark)
    return finished


def end_running() -> None:
    """End every command that other threads of this process run at this moment: what Ctrl-C means for checks side by side."""
    for warden in list(_running):
        _let_go(warden)


def _start_warden(
    program: Sequence[str], report: int, timeout: float, environment: Mapping[str, str], folder: Path | str | None
) -> subprocess.Popen[bytes]:
    script = str(Path(__file__).with_name("warden.py"))
    return subprocess.Popen(
        [sys.executable, "-I", "-S", script, str(report), repr(timeout), environment.get("LC_CTYPE", ""), *program],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=folder,
        env=dict(environment),
        pass_fds=(report,),
        start_new_session=True,
    )


def _watch(warden: subprocess.Popen[bytes], report_end: int, give_up: float, output_limit: int) -> Finished:
    """Read both streams until the warden has reported and every writer is gone."""
    assert warden.stdout is not None and warden.stderr is not None
    out, err, report = Stream(), Stream(), bytearray()
    flooded = False
    with selectors.DefaultSelector() as selector:
        selector.register(warden.stdout, selectors.EVENT_READ, out.add)
        selector.register(warden.stderr, selectors.EVENT_READ, err.add)
        selector.register(report_end, selectors.EVENT_READ, report.extend)
        while selector.get_map() and time.monotonic() < give_up:
            for key, _ in selector.select(max(0.0, give_up - time.monotonic())):
                data = os.read(key.fd, _CHUNK)
                if data:
                    key.data(data)
                else:
                    selector.unregister(key.fileobj)
                    if key.fd == report_end and not report:  # the warden was killed; strays may hold the streams open for ever
                        give_up = 0.0
            if not flooded and out.total + err.total > output_limit:
                flooded = True
                _let_go(warden)
    return _finished(bytes(report), out, err, flooded)


def _finished(report: bytes, out: Stream, err: Stream, flooded: bool) -> Finished:
    try:
        told = json.loads(report)
    except ValueError:
        return Finished("lost", None, None, 0.0, out.text(), err.text())
    status = told["status"]
    seconds = float(told["seconds"])
    if flooded or status is None:
        ended = "output" if flooded else "timeout"
        return Finished(ended, None, None, seconds, out.text(), err.text())
    if os.WIFSIGNALED(status):
        return Finished("killed", None, os.WTERMSIG(status), seconds, out.text(), err.text())
    return Finished("exit", os.WEXITSTATUS(status), None, seconds, out.text(), err.text())


def _let_go(warden: subprocess.Popen[bytes]) -> None:
    """Close the pipe whose end tells the warden to end the command now."""
    with contextlib.suppress(OSError):
        if warden.stdin is not None:
            warden.stdin.close()


def _dismiss(warden: subprocess.Popen[bytes]) -> None:
    """Leave no process behind, also after Ctrl-C in the middle: the warden ends the command, then itself."""
    _let_go(warden)
    try:
        warden.wait(GRACE)
    except subprocess.TimeoutExpired:
        warden.kill()
        warden.wait()
    for stream in (warden.stdout, warden.stderr):
        if stream is not None:
            stream.close()


def _run_plainly(program: Sequence[str], *, environment: Mapping[str, str], timeout: float, folder: Path | str | None) -> Finished:
    """Without POSIX sessions and signals: output into files (a pipe could be held open), and the system's own tree kill."""
    started = time.monotonic()
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        child = subprocess.Popen(program, stdin=subprocess.DEVNULL, stdout=out, stderr=err, cwd=folder, env=dict(environment))
        try:
            ended, code = "exit", child.wait(timeout)
        except subprocess.TimeoutExpired:
            ended, code = "timeout", 0
        finally:
            subprocess.run(["taskkill", "/T", "/F", "/PID", str(child.pid)], capture_output=True, check=False)
            child.wait()
        seconds = time.monotonic() - started
        streams = []
        for file in (out, err):
            file.seek(0)
            streams.append(file.read(KEPT_OUTPUT).decode("utf-8", "replace"))
    return Finished(ended, code if ended == "exit" else None, None, seconds, streams[0], streams[1])

"""The network calls of a running process as strace shows them, for what leaves no other trace: refused connections, failed binds.

strace stops the process for an instant at every network call, so it runs only when the person asked for it. It is ended by an
interrupt, on which it lets go of the process; afterwards kb makes sure that nothing stands still.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from kbtool.supervision.interrupts import interrupts_held
from kbtool.supervision.processes import state_of
from kbtool.supervision.readings import Reading

LET_GO_WITHIN = 5.0
"""Seconds that strace gets to detach before it is killed; the kernel then detaches for it."""

ATTACH_WITHIN = 5.0
"""Seconds that strace gets to take hold of the process, so that what is asked for is traced from its first moment on."""

_CALL = re.compile(r"^(?:\[pid +)?(?P<pid>\d+)\]? +(?P<call>\w+)\((?P<arguments>.*)\) += (?P<result>-?\d+)(?: (?P<error>E[A-Z]+))?")
_RESUMED = re.compile(r"<\.\.\. (?P<call>\w+) resumed>(?P<rest>.*)$")
_PORT = re.compile(r"sin6?_port=htons\((?P<port>\d+)\)")
_HOST = re.compile(r'inet_(?:addr|pton)\((?:AF_INET6?, )?"(?P<host>[^"]+)"')

MEANINGS = {
    ("connect", "ECONNREFUSED"): ("refused", "{place} refuses the connection: nobody listens there, or only on another address"),
    ("connect", "ETIMEDOUT"): ("unanswered", "{place} never answered: a firewall, or a host that is down"),
    ("connect", "EHOSTUNREACH"): ("unreachable", "no way leads to {place}"),
    ("connect", "ENETUNREACH"): ("unreachable", "no way leads to {place}: this machine has no route to that network"),
    ("bind", "EADDRINUSE"): ("in use", "{place} can not be bound: it is in use (`kb probe port {port}`)"),
    ("bind", "EADDRNOTAVAIL"): ("no such address", "{place} can not be bound: this machine has no such address"),
    ("bind", "EACCES"): ("privileged", "{place} can not be bound: ports below 1024 need root"),
}
"""Call and error: what the reading is called and what it means."""


@dataclass(frozen=True)
class Trace:
    """The network calls seen, or why there are none."""

    calls: int
    readings: tuple[Reading, ...] = ()
    note: str = ""


class Tracing:
    """Follows the network calls of a process while the `with` block runs; what was seen is in `seen` afterwards.

    A missing strace or permission is a note, never an error. Nothing is left stopped or running, also when kb itself is killed: strace
    then ends when `seconds` are over.
    """

    def __init__(self, pid: int, seconds: float):
        self.seen = Trace(0)
        self._pid, self._seconds = pid, seconds
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Tracing:
        program, timeout = shutil.which("strace"), shutil.which("timeout")
        if program is None or timeout is None:
            self.seen = Trace(0, note=f"network calls are not traced: {'strace' if program is None else 'timeout'} is not installed")
            return self
        self._folder = tempfile.TemporaryDirectory(prefix="kb-trace-")
        self._stopped = state_of(self._pid) in "Tt"
        bound = [timeout, "--signal=INT", f"{ATTACH_WITHIN + self._seconds + LET_GO_WITHIN:g}"]
        options = ["-f", "-qq", "-e", "trace=%network", "-e", "signal=none", "-o", str(self._file("calls")), "-p", str(self._pid)]
        try:
            with interrupts_held(), open(self._file("complaints"), "wb") as complaints:
                self._process = subprocess.Popen(
                    [*bound, program, *options], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=complaints, start_new_session=True
                )
            self._await_attached(self._process)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *raised: object) -> None:
        if self._process is None:
            return
        try:
            self._let_go(self._process)
            if not self._stopped and state_of(self._pid) == "T":
                with contextlib.suppress(OSError):
                    os.kill(self._pid, signal.SIGCONT)
            self.seen = self._read()
        finally:
            self._folder.cleanup()

    def _await_attached(self, process: subprocess.Popen[bytes]) -> None:
        deadline = time.monotonic() + ATTACH_WITHIN
        while process.poll() is None and _tracer(self._pid) == 0 and time.monotonic() < deadline:
            time.sleep(0.01)

    def _file(self, name: str) -> Path:
        return Path(self._folder.name) / name

    def _let_go(self, process: subprocess.Popen[bytes]) -> None:
        """An interrupt, on which strace detaches; `timeout` hands it on."""
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
        try:
            process.wait(LET_GO_WITHIN)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()

    def _read(self) -> Trace:
        calls = self._file("calls")
        lines = calls.read_text(errors="replace").splitlines() if calls.exists() else []
        complaint = self._file("complaints").read_text(errors="replace").strip()
        if lines or not complaint:
            return Trace(len(lines), tuple(read_calls(lines)))
        if "not permitted" in complaint:
            complaint = "strace may not look at it: that needs root, or `sysctl kernel.yama.ptrace_scope=0`"
        return Trace(0, note=f"network calls are not traced: {complaint.splitlines()[-1][:160]}")


def _tracer(pid: int) -> int:
    """Who traces the process; 0 for nobody."""
    with contextlib.suppress(OSError):
        found = re.search(r"^TracerPid:\s*(\d+)", Path(f"/proc/{pid}/status").read_text(errors="replace"), re.MULTILINE)
        return int(found.group(1)) if found else 0
    return 0


def read_calls(lines: Sequence[str]) -> Iterator[Reading]:
    """The failed calls among lines of strace, each kind and place once, with their count."""
    counts: dict[tuple[str, str], int] = {}
    for call, error, place, port in failed_calls(lines):
        meaning = MEANINGS.get((call, error))
        if meaning is not None:
            kind, text = meaning[0], meaning[1].format(place=place, port=port)
            counts[kind, text] = counts.get((kind, text), 0) + 1
    for (kind, text), count in counts.items():
        yield Reading(kind, f"{text} ({count} times)" if count > 1 else text)


def failed_calls(lines: Sequence[str]) -> Iterator[tuple[str, str, str, str]]:
    """Call, error, place and port of each failed call on an internet address; a call that was cut in two is joined first."""
    begun: dict[str, str] = {}
    for line in lines:
        pid = line.lstrip("[pid ").split(" ")[0]
        if line.endswith("<unfinished ...>"):
            begun[pid] = line.removesuffix("<unfinished ...>").rstrip()
            continue
        if resumed := _RESUMED.search(line):
            line = begun.pop(pid, "") + resumed["rest"]
        found = _CALL.match(line)
        if found and found["error"] and (port := _PORT.search(found["arguments"])):
            host = _HOST.search(found["arguments"])
            yield found["call"], found["error"], f"{host['host'] if host else '?'}:{port['port']}", port["port"]

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
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from kbtool.supervision.processes import read_stat
from kbtool.supervision.readings import Reading

LET_GO_WITHIN = 5.0
"""Seconds that strace gets to detach before it is killed; the kernel then detaches for it."""

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


def trace_network(pid: int, seconds: float) -> Trace:
    """Follow the network calls of a process for `seconds`; nothing is left stopped. Never raises for a missing permission."""
    program = shutil.which("strace")
    if program is None:
        return Trace(0, note="network calls are not traced: strace is not installed")
    with tempfile.TemporaryDirectory(prefix="kb-trace-") as folder:
        log = Path(folder) / "calls"
        stopped = _state(pid) in "Tt"
        command = [program, "-f", "-qq", "-e", "trace=%network", "-e", "signal=none", "-o", str(log), "-p", str(pid)]
        complaint = _run(command, seconds)
        if not stopped and _state(pid) == "T":
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGCONT)
        text = log.read_text(errors="replace") if log.exists() else ""
    if complaint and not text:
        return Trace(0, note=f"network calls are not traced: {complaint}")
    lines = text.splitlines()
    return Trace(len(lines), tuple(read_calls(lines)))


def _run(command: Sequence[str], seconds: float) -> str:
    """Run strace for a while and end it; returns what it complained about."""
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, start_new_session=True)
    try:
        _, told = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        told = b""
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
            try:
                process.communicate(timeout=LET_GO_WITHIN)
            except subprocess.TimeoutExpired:
                process.kill()
                process.communicate()
    text = told.decode("utf-8", "replace").strip()
    if "not permitted" in text:
        return "strace may not look at it: that needs root, or `sysctl kernel.yama.ptrace_scope=0`"
    return text.splitlines()[-1][:160] if text else ""


def _state(pid: int) -> str:
    try:
        return read_stat(f"/proc/{pid}/stat")[1][0]
    except (OSError, IndexError):
        return "X"


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

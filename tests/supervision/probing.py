"""What the tests of `kb probe` share: programs that really run, listen, wait or hang, and are ended afterwards."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

DEADLINE = 60.0
"""Seconds after which a test gives up waiting: generous, because the machine may be loaded."""


@contextlib.contextmanager
def program(source: str, *, python: str = sys.executable, env: Mapping[str, str] | None = None, arguments: tuple[str, ...] = ()) -> Iterator[tuple[int, str]]:
    """Run Python source in a process of its own until the test is done; yields its number and the first line that it printed."""
    process = subprocess.Popen(
        [python, "-c", source, *arguments], stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, start_new_session=True, env={**os.environ, "PYTHONUNBUFFERED": "1", **(env or {})}
    )
    try:
        assert process.stdout is not None
        yield process.pid, process.stdout.readline().decode().strip()
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


def wait_until(condition: Callable[[], object], what: str) -> None:
    """Return once `condition` holds; fail with `what` after the deadline."""
    deadline = time.monotonic() + DEADLINE
    while not condition():
        assert time.monotonic() < deadline, f"waited in vain for {what}"
        time.sleep(0.02)


def started_here() -> list[str]:
    """Command lines of living processes that carry this test's own state folder in their variables, pytest itself apart."""
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError):
            ours = os.environ["XDG_STATE_HOME"].encode() in Path(f"/proc/{name}/environ").read_bytes()
            if ours and int(name) != os.getpid() and state_of(int(name)) not in "ZX":
                found.append(Path(f"/proc/{name}/cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace"))
    return found


def state_of(pid: int) -> str:
    """The state letter of a process; X when it has gone."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except OSError:
        return "X"


def states_below(pid: int) -> set[str]:
    """The state letters of all threads of a process and its descendants."""
    from kbtool.supervision.family import descendants_of

    found = set()
    for one in (pid, *descendants_of(pid)):
        with contextlib.suppress(OSError):
            for task in os.listdir(f"/proc/{one}/task"):
                found.add(state_of(int(task)))
    return found


def kinds(readings: object) -> list[str]:
    """The words of readings, whether as objects or as JSON."""
    return [one["kind"] if isinstance(one, dict) else one.kind for one in readings]  # type: ignore[attr-defined]

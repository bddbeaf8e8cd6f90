"""Running `kb run` as users do: the real program, with pipes or with a terminal of its own."""

from __future__ import annotations

import os
import pty
import select
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.supervision.probing import DEADLINE, state_of

KB = (sys.executable, "-m", "kbtool")


@dataclass(frozen=True)
class Ended:
    """How a program ended and what it printed on its terminal."""

    status: int
    output: bytes


@pytest.fixture()
def home(tmp_path: Path) -> dict[str, str]:
    """An environment whose HOME and XDG folders are temporary."""
    folder = tmp_path / "home"
    folder.mkdir()
    names = {"XDG_STATE_HOME": "state", "XDG_CACHE_HOME": "cache", "XDG_DATA_HOME": "data", "XDG_CONFIG_HOME": "config"}
    chosen = {name: str(folder / value) for name, value in names.items()}
    return {**os.environ, "HOME": str(folder), **chosen}


@pytest.fixture()
def kb_run(home: dict[str, str]) -> Callable[..., subprocess.CompletedProcess[bytes]]:
    """Run `kb run [options] -- command` with pipes; every other argument is subprocess.run's."""

    def call(command: Sequence[str], *options: str, **more: object) -> subprocess.CompletedProcess[bytes]:
        settings = {"capture_output": True, "timeout": DEADLINE, "env": home, "stdin": subprocess.DEVNULL, **more}
        return subprocess.run([*KB, "run", *options, "--", *command], **settings)  # type: ignore[call-overload,no-any-return]

    return call


def on_terminal(
    command: Sequence[str],
    environment: Mapping[str, str],
    *,
    typed: Sequence[tuple[bytes, bytes]] = (),
    afterwards: tuple[float, bytes] | None = None,
) -> Ended:
    """Run `command` on a terminal of its own.

    `typed` are pairs: once the first was printed, the second is typed. `afterwards` is typed after so many seconds.
    """
    pid, master = pty.fork()
    if pid == 0:
        os.execvpe(command[0], list(command), dict(environment))
    printed = b""
    steps = list(typed)
    began = time.monotonic()
    deadline = began + DEADLINE
    while time.monotonic() < deadline:
        if afterwards is not None and time.monotonic() - began >= afterwards[0]:
            os.write(master, afterwards[1])
            afterwards = None
        if not select.select([master], [], [], 0.1)[0]:
            continue
        try:
            printed += os.read(master, 65536)
        except OSError:
            break
        while steps and steps[0][0] in printed:
            os.write(master, steps.pop(0)[1])
    os.close(master)
    return Ended(os.waitpid(pid, 0)[1], printed)


def alive(pid: int) -> bool:
    """True while the process runs and is no zombie."""
    return state_of(pid) not in "ZX"

"""Ctrl-C in every probe that takes time: exit 130, no tool of kb's left running, nothing of the job stopped."""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.supervision.probing import DEADLINE, program, started_here, states_below, wait_until

BUSY = "print(flush=True)\nwhile True: sum(range(9999))"

LOADER = "import time\ntime.sleep(600)\n"

PROBES = {
    "stack": (["stack", "PID", "--for", "500s"], "record --nonblocking"),
    "net": (["net", "PID", "--for", "500s", "--trace"], "strace -f"),
    "loader": (["loader", "slow_module:loader", "--timeout", "500s"], "loader_trial.py"),
}
"""The probe, and a part of the command line of what it starts."""


@pytest.mark.parametrize("name", PROBES)
def test_an_interrupt_leaves_nothing_behind(name: str, tmp_path: Path) -> None:
    """The probe is interrupted once its helper runs: it ends with 130, the helper with it, and the job goes on."""
    arguments, helper = PROBES[name]
    if name == "net" and shutil.which("strace") is None:
        pytest.skip("strace is not installed")
    (tmp_path / "slow_module.py").write_text(LOADER)
    with program(BUSY) as (pid, _):
        command = [sys.executable, "-m", "kbtool", "probe", *(word.replace("PID", str(pid)) for word in arguments)]
        probe = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=tmp_path)
        wait_until(lambda: any(helper in line for line in started_here()), "the helper to start")
        probe.send_signal(signal.SIGINT)
        _, said = probe.communicate(timeout=DEADLINE)
        wait_until(lambda: not any(helper in line for line in started_here()), "the helper to end")
        states = states_below(pid)

    assert (probe.returncode, said) == (130, b"")
    assert not states & {"T", "t"}

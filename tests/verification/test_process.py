"""Running with limits: whatever a check does, it ends in time, its memory stays away from kb, and nothing of it survives."""

from __future__ import annotations

import os
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from kbtool.verification import warden
from kbtool.verification.process import KEPT_OUTPUT, Finished, Stream, run_command
from tests.conftest import Kb, build_base
from tests.verification.conftest import proof_count

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")

TIMEOUT = 2.0
"""For what is to be ended when its time is up."""

ENOUGH = 60.0
"""For what ends by itself, on the slowest machine."""


def run(command: str, *, marker: str = "", timeout: float = ENOUGH, **options: object) -> Finished:
    """A shell line under the limits; `marker` in its environment finds its processes again."""
    return run_command(["/bin/sh", "-c", command], environment={**os.environ, "KB_TEST_MARKER": marker}, timeout=timeout, **options)  # type: ignore[arg-type]


def alive(marker: str) -> list[int]:
    """Processes, zombies left out, that carry `marker` in their environment."""
    found = []
    for name in os.listdir("/proc"):
        try:
            if name.isdigit() and f"KB_TEST_MARKER={marker}".encode() in Path(f"/proc/{name}/environ").read_bytes().split(b"\0"):
                found.append(int(name))
        except OSError:
            continue
    return found


ESCAPES = {
    "sleeps": "sleep 300",
    "ignores every polite signal": "trap '' TERM INT HUP; while :; do sleep 300; done",
    "forks a hundred": "i=0; while [ $i -lt 100 ]; do sleep 300 & i=$((i+1)); done; wait",
    "daemonises twice in a session of its own": "(setsid sh -c '(setsid sleep 300 &) ; sleep 300' &) ; exit 0",
    "leaves somebody who holds stdout open": "sleep 300 & echo started",
    "prints for ever": "yes",
    "reads its input": "cat; read line; echo \"got:$line\"",
    "kills its own group": "sleep 300 & (setsid sleep 300 &); kill -KILL 0",
    "kills its parent": "sleep 300 & (setsid sleep 300 &); sleep 0.2; kill -KILL $PPID; sleep 300",
}


@pytest.mark.parametrize("name", ESCAPES)
def test_no_check_outlives_its_limits(name: str) -> None:
    """Ends at most two seconds after its time, leaves no process, and kb's memory stays small."""
    marker = f"{os.getpid()}-{time.monotonic_ns()}"
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    started = time.monotonic()

    finished = run(ESCAPES[name], marker=marker, timeout=TIMEOUT)

    took = time.monotonic() - started
    end = time.monotonic() + 60
    while alive(marker) and time.monotonic() < end:  # the kernel needs a moment to bury what was killed
        time.sleep(0.01)
    assert not alive(marker)
    assert took <= TIMEOUT + 2 + 20, "20 s more for a crowded machine; the check itself would take 300"
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100 * 1024
    assert len(finished.stdout) <= KEPT_OUTPUT + 100


def test_standard_input_is_empty() -> None:
    """A check that reads its input gets an end of file, not kb's own input."""
    finished = run("cat; echo $?")

    assert (finished.ended, finished.stdout) == ("exit", "0\n")


def test_nothing_survives_kb_itself(tmp_path: Path) -> None:
    """kill -9 of kb in the middle of a check ends the check too."""
    marker = f"{os.getpid()}-{time.monotonic_ns()}"
    program = (
        "import os; from kbtool.verification.process import run_command;"
        "run_command(['/bin/sh', '-c', '(setsid sleep 300 &); touch started; sleep 300'], environment=dict(os.environ), timeout=300)"
    )
    environment = {**os.environ, "KB_TEST_MARKER": marker, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    kb = subprocess.Popen([sys.executable, "-c", program], cwd=tmp_path, env=environment)
    end = time.monotonic() + 60
    while not (tmp_path / "started").exists() and time.monotonic() < end:
        time.sleep(0.01)
    assert len(alive(marker)) >= 3

    kb.send_signal(signal.SIGKILL)
    kb.wait()

    while alive(marker) and time.monotonic() < end:
        time.sleep(0.01)
    assert not alive(marker)


@pytest.mark.parametrize("checks", [1, 3])
def test_an_interrupt_ends_every_check(checks: int, tmp_path: Path, make_entry: Callable[..., str], kb: Kb) -> None:
    """Ctrl-C while checks run: status 130 at once, no process left, nothing recorded."""
    marker = f"{os.getpid()}-{time.monotonic_ns()}"
    names = [f"fault-{number}" for number in range(checks)]
    slow = {f"data/{name}": make_entry(verify=f"touch {tmp_path}/{name}; sleep 300").replace("status:", "timeout: 250s\nstatus:") for name in names}
    base = build_base(tmp_path / "entries", slow)
    kb("allow", *names, entries=base)
    command = [sys.executable, "-m", "kbtool", "--entries", str(base), "verify", *names]
    process = subprocess.Popen(command, env={**os.environ, "KB_TEST_MARKER": marker}, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
    end = time.monotonic() + 100
    while not all((tmp_path / name).exists() for name in names) and time.monotonic() < end:
        time.sleep(0.01)

    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)

    assert process.returncode == 130, errors
    assert "Traceback" not in errors
    while alive(marker) and time.monotonic() < end:
        time.sleep(0.01)
    assert not alive(marker)
    assert not any("Outcomes" in path.read_text() for path in (base / "data").glob("fault-*.md"))


def test_output_keeps_its_beginning_and_its_end() -> None:
    """Of long output the first and the last part are kept, in bounded memory, and how much is missing is said."""
    stream = Stream()
    for number in range(200_000):
        stream.add(b"%d\n" % number)

    text = stream.text()

    assert text.startswith("0\n1\n") and text.endswith("199999\n") and "bytes left out" in text
    assert len(text) <= KEPT_OUTPUT + 100
    assert len(stream.head) + len(stream.tail) <= 2 * KEPT_OUTPUT


def test_short_output_is_whole() -> None:
    """What fits is kept byte for byte, both streams apart."""
    finished = run("printf 'a\\nb'; printf c >&2; exit 7")

    assert (finished.stdout, finished.stderr, finished.exit_code, finished.ended) == ("a\nb", "c", 7, "exit")


def test_a_signal_is_no_exit_status() -> None:
    """A check killed by a signal says so, and has no exit status."""
    finished = run("kill -SEGV $$")

    assert (finished.ended, finished.exit_code, finished.signal) == ("killed", None, signal.SIGSEGV)


def test_a_missing_program_is_reported() -> None:
    """A program that can not be executed ends as a shell would end it."""
    finished = run_command(["/no/such/program"], environment=dict(os.environ), timeout=ENOUGH)

    assert (finished.ended, finished.exit_code) == ("exit", 127)


def test_a_number_that_went_to_a_stranger_is_not_killed() -> None:
    """A process id that is no descendant's (any more) gets no signal, and a descendant's does."""
    started = subprocess.run(["/bin/sh", "-c", "sleep 600 >/dev/null 2>&1 & echo $!"], capture_output=True, text=True, check=True)
    stranger = int(started.stdout)
    own = subprocess.Popen(["sleep", "600"])
    try:
        warden._kill(stranger)
        warden._kill(own.pid)

        assert own.wait(30) == -signal.SIGKILL
        assert warden._parent(stranger)[1] in ("S", "R"), "asleep, not killed"
    finally:
        os.kill(stranger, signal.SIGKILL)


@pytest.mark.skipif(shutil.which("strace") is None, reason="needs strace")
def test_no_signal_reaches_a_stranger(tmp_path: Path) -> None:
    """In many short runs with orphans every signal goes to a process of the run itself and to none that was reaped before."""
    runs = proof_count(25, 500)
    program = (
        "import os; from kbtool.verification.process import run_command\n"
        f"for number in range({runs}):\n"
        "    run_command(['/bin/sh', '-c', '(sleep 60 &); true' if number % 5 == 0 else 'true'], environment=dict(os.environ), timeout=20)\n"
    )
    log = tmp_path / "strace.log"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    trace = ["strace", "-f", "-qq", "-o", str(log), "-e", "trace=kill,tkill,tgkill,pidfd_open,pidfd_send_signal,wait4,fork,vfork,clone,clone3"]
    done = subprocess.run([*trace, sys.executable, "-c", program], env=environment, capture_output=True, text=True, timeout=600, check=False)
    if "Operation not permitted" in done.stderr:
        pytest.skip("tracing is not permitted here")
    assert done.returncode == 0, done.stderr

    assert signals_gone_astray(log.read_text()) == []


def signals_gone_astray(log: str) -> list[str]:
    """Lines of an strace log that send a signal to a process that the traced family did not have at that moment."""
    import re

    own: set[str] = set()
    reaped: set[str] = set()
    astray = []
    for line in log.splitlines():
        pid, _, call = line.partition(" ")
        own.add(pid)
        born = re.search(r"(?:clone3?|v?fork)(?:\(.*\)| resumed>.*) = (\d+)", call)
        buried = re.search(r"wait4(?:\(| resumed).* = (\d+)", call)
        aimed = re.match(r"\s*(?:kill|tgkill|tkill|pidfd_open)\((-?\d+)", call)
        if born:
            own.add(born.group(1))
            reaped.discard(born.group(1))
        if buried:
            reaped.add(buried.group(1))
        if aimed and (aimed.group(1).lstrip("-") not in own or aimed.group(1).lstrip("-") in reaped) and "ESRCH" not in call:
            astray.append(line)
    return astray

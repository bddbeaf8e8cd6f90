"""A job under `kb run` is the job it was: its bytes, its exit, its signals, and nothing of it left behind."""

from __future__ import annotations

import hashlib
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from .conftest import KB, alive, on_terminal
from .probing import wait_until

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="kb run needs Linux")

SAMPLED_CODES = (0, 1, 2, 3, 70, 124, 126, 127, 128, 130, 137, 255)
SIGNALS = ("SIGHUP", "SIGINT", "SIGQUIT", "SIGABRT", "SIGKILL", "SIGUSR1", "SIGSEGV", "SIGTERM")

ALL_CODES = """
import os
from kbtool.supervision.output import Output
from kbtool.supervision.relay import launch
for code in range(256):
    status = launch(["sh", "-c", f"exit {code}"], os.environ, Output()).wait()
    assert os.WIFEXITED(status) and os.WEXITSTATUS(status) == code, (code, status)
"""

EVERY_BYTE = """
import os, random
random.seed(7)
data = bytes(range(256)) * 40 + random.randbytes(300_000)
for at in range(0, len(data), 7001):
    os.write(1, data[at:at + 7001])
    os.write(2, data[at:at + 7001][::-1])
"""

PROGRESS = r"""
import sys, time
for step in range(300):
    sys.stdout.write(f"\r\x1b[32m{step}/300\x1b[0m" + "\u2588" * (step % 40))
    sys.stdout.flush()
    sys.stderr.write("warning\n" if step % 50 == 0 else "")
print("\nsize", *__import__("os").get_terminal_size(), sys.stdin.isatty(), sys.stdout.isatty(), sys.stderr.isatty())
"""


@pytest.mark.parametrize("code", SAMPLED_CODES)
def test_exit_code_is_the_jobs_own(code: int, kb_run) -> None:
    """`kb run` exits with what the job exited with."""
    ended = kb_run(["sh", "-c", f"exit {code}"])
    assert (ended.returncode, ended.stdout, ended.stderr.count(b"Traceback")) == (code, b"", 0)


def test_all_256_exit_codes_pass(home) -> None:
    """Every exit code from 0 to 255 comes through."""
    subprocess.run([sys.executable, "-c", ALL_CODES], check=True, env=home, timeout=120)


@pytest.mark.parametrize("name", SIGNALS)
def test_death_by_signal_is_the_jobs_own(name: str, kb_run) -> None:
    """Whoever waits for kb sees the signal that ended the job, not a number made of it."""
    number = getattr(signal, name)
    assert kb_run(["sh", "-c", f"kill -{number} $$"]).returncode == -number


@pytest.mark.parametrize("name", ["SIGHUP", "SIGINT", "SIGQUIT", "SIGUSR1", "SIGUSR2", "SIGTERM", "SIGALRM", "SIGCONT"])
def test_signals_sent_to_kb_reach_the_job_once(name: str, home, tmp_path: Path) -> None:
    """A signal for kb is one signal for the job, and what the job makes of it counts."""
    job = (
        "import os, signal, time\nseen = []\n"
        f"signal.signal(signal.{name}, lambda *_: seen.append(1))\n"
        "print('ready', flush=True)\n"
        "while not seen: time.sleep(0.01)\n"
        "time.sleep(0.3)\nraise SystemExit(40 + len(seen))"
    )
    process = subprocess.Popen([*KB, "run", "--", sys.executable, "-c", job], stdout=subprocess.PIPE, env=home)
    assert process.stdout is not None and process.stdout.readline() == b"ready\n"
    process.send_signal(getattr(signal, name))
    assert process.wait(60) == 41
    process.stdout.close()


def test_bytes_through_pipes_are_identical(kb_run) -> None:
    """stdout and stderr carry the same sha256 with and without kb, whatever the bytes."""
    plain = subprocess.run([sys.executable, "-c", EVERY_BYTE], capture_output=True, check=True)
    ended = kb_run([sys.executable, "-c", EVERY_BYTE])
    for ours, theirs in ((ended.stdout, plain.stdout), (ended.stderr, plain.stderr)):
        assert hashlib.sha256(ours).hexdigest() == hashlib.sha256(theirs).hexdigest()


def test_one_file_for_both_streams_keeps_the_order(kb_run) -> None:
    """With stderr sent into stdout the lines stand in the order in which the job wrote them."""
    job = "import os\nfor n in range(500):\n os.write(1 + n % 2, b'%d\\n' % n)"
    ended = kb_run([sys.executable, "-c", job], capture_output=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    assert ended.stdout == b"".join(b"%d\n" % n for n in range(500))


def test_bytes_on_a_terminal_are_identical(home) -> None:
    """On a terminal a progress bar draws the same bytes, and the job sees the same terminal, with and without kb."""
    job = [sys.executable, "-c", PROGRESS]
    plain = on_terminal(job, home)
    under_kb = on_terminal([*KB, "run", "--", *job], home)
    assert hashlib.sha256(under_kb.output).hexdigest() == hashlib.sha256(plain.output).hexdigest()
    assert b"True True True" in plain.output and under_kb.status == plain.status == 0


def test_what_is_typed_reaches_the_job(home) -> None:
    """A line typed on kb's terminal is read by the job, echoed once."""
    job = [sys.executable, "-c", "print('got', input('name? '))"]
    ended = on_terminal([*KB, "run", "--", *job], home, typed=[(b"name? ", b"ada\r")])
    assert ended.output.count(b"ada") == 2 and b"got ada" in ended.output


def test_ctrl_c_reaches_the_job_once(home) -> None:
    """Ctrl-C on the terminal is one SIGINT for the job."""
    job = (
        "import signal, time\nseen = []\nsignal.signal(signal.SIGINT, lambda *_: seen.append(1))\n"
        "print('ready', flush=True)\nwhile not seen: time.sleep(0.01)\ntime.sleep(0.3)\nprint('seen', len(seen))"
    )
    ended = on_terminal([*KB, "run", "--", sys.executable, "-c", job], home, typed=[(b"ready", b"\x03")])
    assert b"seen 1" in ended.output and ended.status == 0


def test_standard_input_is_handed_down(kb_run) -> None:
    """A pipe into kb is the job's own standard input."""
    assert kb_run(["cat"], input=b"abc" * 100_000, stdin=None).stdout == b"abc" * 100_000


def test_nothing_is_left_running(kb_run, tmp_path: Path) -> None:
    """Background children, double forks in sessions of their own and those that ignore SIGTERM end with the job."""
    pids = tmp_path / "pids"
    script = (
        f"sleep 1000 & echo $! >> {pids}; "
        f"setsid sh -c 'echo $$ >> {pids}; trap \"\" TERM; while :; do sleep 1000; done' & "
        f"(setsid sleep 1000 & echo $! >> {pids}); "
        f"while [ $(wc -l < {pids}) -lt 3 ]; do sleep 0.01; done; exit 5"
    )
    ended = kb_run(["sh", "-c", script])
    left = [int(pid) for pid in pids.read_text().split()]
    assert ended.returncode == 5 and len(left) == 3
    assert [pid for pid in left if alive(pid)] == []


def test_job_that_does_not_exist(kb_run) -> None:
    """An unknown command gives the shell's 127 and one line, a file that is no program 126."""
    ended = kb_run(["no-such-program-here"])
    assert ended.returncode == 127 and ended.stderr.count(b"\n") == 1 and b"no-such-program-here" in ended.stderr
    assert kb_run([os.path.abspath(__file__)]).returncode == 126


def test_reader_that_goes_away_is_told_to_the_job(home) -> None:
    """`kb run -- yes | head -1` ends, because the job gets the closed pipe that it would have had."""
    pipe = subprocess.run(["sh", "-c", f"{sys.executable} -m kbtool run -- yes | head -1"], capture_output=True, env=home, timeout=60)
    assert (pipe.stdout, pipe.stderr) == (b"y\n", b"")


def test_inherited_descriptors_stay(kb_run) -> None:
    """A descriptor above 2 that kb was given is the job's too."""
    reader, writer = os.pipe()
    kb_run([sys.executable, "-c", f"import os; os.write({writer}, b'through\\n')"], pass_fds=[writer])
    os.close(writer)
    with os.fdopen(reader) as file:
        assert file.read() == "through\n"


def test_job_is_not_held_up_by_a_failing_watch(home) -> None:
    """When kb's own bookkeeping fails, the job runs to its end and its output passes."""
    broken = (
        "import sys\nfrom kbtool.supervision.output import Output\n"
        "def fail(self, chunk): raise RuntimeError('kb is broken')\n"
        "Output.add = fail\nsys.argv = ['kb', 'run', '--', 'sh', '-c', 'echo fine; exit 4']\n"
        "from kbtool.__main__ import main\nmain()"
    )
    ended = subprocess.run([sys.executable, "-c", broken], capture_output=True, env=home, timeout=60)
    assert (ended.stdout, ended.returncode) == (b"fine\n", 4)


def test_stopped_job_is_stopped_and_goes_on(home, tmp_path: Path) -> None:
    """SIGTSTP stops job and kb alike, SIGCONT lets both go on."""
    process = subprocess.Popen(
        [*KB, "run", "--", "sh", "-c", f"echo $$ > {tmp_path}/pid; while [ ! -e {tmp_path}/go ]; do sleep 0.05; done; exit 6"],
        env=home,
        stdout=subprocess.DEVNULL,
        stdin=subprocess.DEVNULL,
    )
    pid_file = tmp_path / "pid"
    wait_until(lambda: pid_file.exists() and pid_file.read_text().strip(), "the job's start")
    job = int(pid_file.read_text())
    process.send_signal(signal.SIGTSTP)
    wait_until(lambda: _state(process.pid) == "T" and _state(job) == "T", "both being stopped")
    process.send_signal(signal.SIGCONT)
    (tmp_path / "go").touch()
    assert process.wait(60) == 6


def _state(pid: int) -> str:
    return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]

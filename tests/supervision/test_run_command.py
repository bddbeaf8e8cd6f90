"""`kb run` as a command: what it says at the end of a job, what it keeps, and what it never touches."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.conftest import build_base
from tests.supervision.probing import states_below

from .conftest import KB, on_terminal
from .probing import wait_until

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="kb run needs Linux")

CRASH = "import sys\nprint('epoch 1', flush=True)\nraise OSError(28, 'No space left on device')"


@pytest.fixture
def known(tmp_path: Path, make_entry, home) -> dict[str, str]:
    """An environment whose base knows a full disk."""
    return {**home, "KB_ENTRIES": str(build_base(tmp_path / "base" / "entries", {"data/disk-full": make_entry()}))}


def runs_of(home: dict[str, str]) -> list[Path]:
    """The folders of all runs that were kept."""
    folder = Path(home["XDG_STATE_HOME"]) / "kb" / "runs"
    return sorted(folder.iterdir()) if folder.exists() else []


def test_healthy_end_says_nothing(kb_run) -> None:
    """A job that ends well is followed by silence."""
    ended = kb_run([sys.executable, "-c", "print('done')"])
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, b"done\n", b"")


def test_crash_is_matched_and_the_next_command_named(kb_run, known) -> None:
    """After a crash the job's own traceback stands first, then the best entry and what to type."""
    ended = kb_run([sys.executable, "-c", CRASH], env=known)
    told = ended.stderr.decode()
    assert ended.returncode == 1 and ended.stdout == b"epoch 1\n"
    assert told.index("Traceback") < told.index("exit code 1") < told.index("disk-full") < told.index("next: kb verify disk-full")


def test_verify_after_a_crash_checks_in_the_jobs_surroundings(kb_run, known, tmp_path: Path) -> None:
    """The match of a run is the last match: `kb verify` finds it, and the job's folder."""
    job = tmp_path / "job"
    job.mkdir()
    kb_run([sys.executable, "-c", CRASH], env=known, cwd=job)
    subprocess.run([*KB, "allow", "disk-full"], env=known, capture_output=True, timeout=60)
    done = subprocess.run([*KB, "verify", "--json"], env=known, capture_output=True, text=True, timeout=60)
    assert json.loads(done.stdout)[0]["id"] == "disk-full", done.stderr
    assert str(job) in done.stderr


def test_failure_that_nobody_knows_and_no_failure_at_all(kb_run, known) -> None:
    """An exit code without any sign of a failure, such as grep's 1, is not commented on."""
    ended = kb_run(["sh", "-c", "exit 1"], env=known)
    assert (ended.returncode, ended.stderr) == (1, b"")


def test_timeline_knows_phases_and_the_first_step(kb_run, tmp_path: Path) -> None:
    """Loading, the first step, evaluation: each has its moment, and a phase says how long the one before it took."""
    code = "for line in ('Loading checkpoint shards', 'step 1 loss 0.5', 'Running Evaluation'): print(line, flush=True)"
    report = tmp_path / "report.json"
    kb_run([sys.executable, "-c", code], "--json-report", str(report))
    told = [(moment["event"], moment["detail"].split(",")[0]) for moment in json.loads(report.read_text())["timeline"]]
    assert [one for one in told if one[0] == "phase"] == [("phase", "load"), ("phase", "train"), ("phase", "evaluation")]
    assert "first step" in [event for event, _ in told]


def test_nothing_is_left_stopped_after_a_dump(home, tmp_path: Path) -> None:
    """A stall that is told with all stacks leaves the job as it was: no process of it is stopped, and it ends when asked."""
    report = tmp_path / "report.json"
    job = [sys.executable, "-c", "import time\ntime.sleep(1000)"]
    command = [*KB, "run", "--stall", "1", "--on-stall", "dump", "--json-report", str(report), "--", *job]
    process = subprocess.Popen(command, env=home, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    wait_until(report.exists, "the stall")
    states = states_below(process.pid)
    process.terminate()
    _, told = process.communicate(timeout=60)
    assert not states & {"T", "t"}
    assert process.returncode == -signal.SIGTERM and b"<module> (<string>:2)" in told


def test_waiting_for_a_person_at_the_terminal_is_no_stall(home) -> None:
    """A job that reads from kb's own terminal waits for a person, however long that takes."""
    job = [sys.executable, "-c", "import time\nprint('name?', input())\nprint('thanks')"]
    began = time.monotonic()
    ended = on_terminal([*KB, "run", "--stall", "1", "--", *job], home, afterwards=(4.0, b"ada\r"))
    assert b"thanks" in ended.output and b"stalled" not in ended.output and time.monotonic() - began >= 4.0


def test_interrupted_job_is_not_explained(known) -> None:
    """Who presses Ctrl-C wants no explanation."""
    job = [sys.executable, "-c", "import time\nprint('ready', flush=True)\ntime.sleep(60)"]
    ended = on_terminal([*KB, "run", "--", *job], known, typed=[(b"ready", b"\x03")])
    assert os.WTERMSIG(ended.status) == signal.SIGINT and b"kb:" not in ended.output


def test_segmentation_fault_shows_its_python_stack(kb_run) -> None:
    """A job that dies of SIGSEGV is explained with the Python stack it died in, though its own output holds none."""
    ended = kb_run([sys.executable, "-c", "import ctypes\ndef native(): ctypes.string_at(0)\nnative()"])
    assert ended.returncode == -signal.SIGSEGV
    assert b"segmentation fault" in ended.stderr and b"in native" in ended.stderr


@pytest.mark.parametrize(
    ("name", "words"), [("SIGKILL", b"out-of-memory"), ("SIGBUS", b"/dev/shm holds"), ("SIGILL", b"another processor")]
)
def test_signals_are_explained(name: str, words: bytes, kb_run) -> None:
    """A death by signal is put into words with the evidence at hand."""
    ended = kb_run(["sh", "-c", f"kill -{getattr(signal, name)} $$"])
    assert words in ended.stderr


def test_exit_code_of_a_killed_child_is_explained(kb_run) -> None:
    """A launcher that reports its child's death as 137 is explained too, with the job's own exit code."""
    ended = kb_run(["sh", "-c", "sh -c 'kill -9 $$'; exit $?"])
    assert ended.returncode == 137 and b"out-of-memory" in ended.stderr


def test_report_has_the_promised_fields(kb_run, known, tmp_path: Path) -> None:
    """`--json-report` writes schema 1 with the match of the crash, and kb says nothing with `--quiet`."""
    report = tmp_path / "report.json"
    ended = kb_run([sys.executable, "-c", CRASH], "--quiet", "--json-report", str(report), env=known)
    data = json.loads(report.read_text())
    assert set(data) >= {"schema", "exit_code", "signal", "stalls", "imports", "timeline", "matches"}
    assert (data["schema"], data["exit_code"], data["matches"][0]["id"]) == (1, 1, "disk-full")
    assert [moment["event"] for moment in data["timeline"]] == ["started", "first output", "ended"]
    assert b"kb:" not in ended.stderr


def test_run_is_kept_and_shown(kb_run, home, kb, tmp_path: Path) -> None:
    """`kb runs` lists the newest run first, and `kb runs 1` shows its command, folder, versions, timeline and last output."""
    job = tmp_path / "job"
    job.mkdir()
    (job / "lib.py").write_text("__version__ = '4.5.6'\n")
    kb_run(["true"])
    kb_run([sys.executable, "-c", "import lib\nprint('step 3 loss 0.5')"], cwd=job)
    listed = kb("runs", env=home).stdout.splitlines()
    assert len(listed) == 2 and "import lib" in listed[0]
    shown = kb("runs", "1", env=home).stdout
    for words in (str(job), "lib 4.5.6", "step 3 loss 0.5", "first output", sys.executable):
        assert words in shown
    assert json.loads(kb("runs", "1", "--json", env=home).stdout)["report"]["schema"] == 1


def test_nothing_is_written_outside_the_state_folder(kb_run, home, tmp_path: Path) -> None:
    """A run leaves the job's folder, HOME and its temporary folder as they were, bytecode included."""
    job = tmp_path / "job"
    job.mkdir()
    environment = {**home, "TMPDIR": str(job)}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    package = Path(__file__).parents[2] / "kbtool" / "supervision" / "injected"
    before = sorted((path, path.stat().st_mtime_ns) for path in package.rglob("*"))
    kb_run([sys.executable, "-c", "print(1)"], cwd=job, env=environment)
    assert list(job.iterdir()) == []
    assert sorted((path, path.stat().st_mtime_ns) for path in package.rglob("*")) == before
    assert {path.name for path in Path(home["HOME"]).iterdir()} <= {"state", "cache"}


def test_unwritable_state_folder_costs_the_record_only(kb_run, home, tmp_path: Path) -> None:
    """Where nothing can be kept the job runs all the same."""
    blocked = tmp_path / "blocked"
    blocked.write_text("a file where a folder should be")
    ended = kb_run(["sh", "-c", "echo fine; exit 3"], env={**home, "XDG_STATE_HOME": str(blocked)})
    assert (ended.returncode, ended.stdout) == (3, b"fine\n")


def test_failing_watch_leaves_the_job_alone(home) -> None:
    """When the watch itself breaks, the job's output and end are its own, and one line says that kb failed."""
    broken = (
        "import sys\nfrom kbtool.supervision.watch import Watch\n"
        "def fail(self): raise RuntimeError('kb is broken')\nWatch.look = fail\n"
        "sys.argv = ['kb', 'run', '--stall', '1', '--', 'sh', '-c', 'sleep 1; echo fine; exit 4']\n"
        "from kbtool.__main__ import main\nmain()"
    )
    ended = subprocess.run([sys.executable, "-c", broken], capture_output=True, env=home, timeout=60)
    assert (ended.stdout, ended.returncode) == (b"fine\n", 4)
    assert ended.stderr.count(b"\n") == 1 and b"Traceback" not in ended.stderr


def test_secrets_do_not_reach_the_disk(kb_run, home) -> None:
    """A token in the command line, the environment, the output and an exception is in none of the files kept."""
    token = "hf_" + "aBcDeFgHiJkLmNoPqRsTuVwXyZaBcDeFgH"
    code = f"import sys\nprint('using {token}')\ntry: __import__('bad')\nexcept ValueError: pass\nraise SystemExit(sys.argv[1][:0] or 3)"
    folder = Path(home["HOME"])
    (folder / "bad.py").write_text(f"raise ValueError('token {token} refused')\n")
    kb_run([sys.executable, "-c", code, token], env={**home, "HF_HOME": f"/x?token={token}"}, cwd=folder)
    kept = [path for root in (home["XDG_STATE_HOME"], home["XDG_CACHE_HOME"]) for path in Path(root).rglob("*") if path.is_file()]
    assert runs_of(home) and [path.name for path in kept if token.encode() in path.read_bytes()] == []


def test_stack_of_an_isolated_python_is_explained(kb_run, home) -> None:
    """A Python started with -I keeps the record out; it still runs, and what can be had of a stall is told."""
    ended = kb_run([sys.executable, "-I", "-c", "import time\ntime.sleep(1000)"], "--stall", "1", "--on-stall", "kill")
    assert ended.returncode == 124
    assert b"<module>" in ended.stderr or b"-I" in ended.stderr


def test_loss_that_is_no_number_is_said_once(kb_run) -> None:
    """A loss that turns NaN is said when it happens, with its step, and only once."""
    code = "for step in range(5): print(f'step {step} loss', float('nan') if step > 1 else 0.5, flush=True)"
    ended = kb_run([sys.executable, "-c", code])
    assert ended.stderr == b"kb: loss is nan at step 2\n"


@pytest.mark.parametrize("text", ["0", "-3s", "soon", "5d", "nan"])
def test_unreadable_stall_limit(text: str, kb_run) -> None:
    """A limit that is no duration is refused with a hint, and nothing is started."""
    ended = kb_run(["touch", "started"], f"--stall={text}")
    assert ended.returncode == 2 and b"hint: write 90s" in ended.stderr


def test_post_mortem_runs_the_program_in_place(kb_run, known, tmp_path: Path) -> None:
    """`--post-mortem` keeps the program's output and exit code, and explains once."""
    program = tmp_path / "train.py"
    program.write_text(CRASH)
    ended = kb_run([sys.executable, str(program)], "--post-mortem", env=known)
    assert ended.returncode == 1 and ended.stdout == b"epoch 1\n"
    assert ended.stderr.count(b"A loader dies because the disk is full") == 1
    assert kb_run(["sh", "-c", "true"], "--post-mortem", env=known).returncode == 2


def test_lines_of_healthy_runs_do_not_mislead(kb_run, make_entry, home, tmp_path: Path) -> None:
    """An error line that every healthy run prints too is not taken for the cause of a crash, before it was known to be usual it was."""
    other = make_entry(
        domain="model", title="Shapes differ", symptom="RuntimeError: mat1 and mat2 shapes cannot be multiplied (2x5 and 3x4)"
    )
    base = build_base(tmp_path / "base" / "entries", {"data/disk-full": make_entry(), "model/shapes-differ": other})
    program = tmp_path / "job.sh"
    usual = "OSError: [Errno 28] No space left on device"
    program.write_text(
        f"echo 'cache: {usual}'; [ -e broken ] || exit 0; echo 'RuntimeError: mat1 and mat2 shapes cannot be multiplied (2x5 and 3x4)'; exit 9"
    )
    report = tmp_path / "report.json"

    def matches() -> list[str]:
        kb_run(["sh", str(program)], "--json-report", str(report), env={**home, "KB_ENTRIES": str(base)}, cwd=tmp_path)
        return [match["id"] for match in json.loads(report.read_text())["matches"]]

    (tmp_path / "broken").write_text("")
    assert "disk-full" in matches()
    (tmp_path / "broken").unlink()
    assert matches() == []
    (tmp_path / "broken").write_text("")
    assert matches()[0] == "shapes-differ"

"""Programs that hang, each of another kind, and programs that are only slow: real processes under the real `kb run`.

All run at once, a few at a time, and each test then reads what its own program gave. Deadlines are generous: the promise is the
class and the telling place, the time is checked against limit + 10 s on the job's own clock.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from kbtool.settings import shipped_entries

pytestmark = [
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="kb run needs Linux"),
    pytest.mark.xdist_group("hangs"),
]

HERE = Path(__file__).parent
LIMIT = 3.0
AT_ONCE = 5
PATIENCE = 120.0


@dataclass(frozen=True)
class Hang:
    """A program that hangs, the class kb has to give it, and words that its evidence and stacks have to name."""

    program: str
    kind: str
    names: tuple[str, ...]
    needs: str = ""
    ends: bool = True
    """False for a class that kb never kills."""
    entry: str = ""
    """The shipped entry that explains it."""


HANGS = (
    Hang("import_waits/start.py", "waiting", ("studio.settings", "STUDIO_MODEL_STORE", "import of `studio`", "studio/__init__.py"), entry="import-waits-for-unset-variable"),
    Hang("two_locks.py", "waiting", ("take", "lock")),
    Hang("lock_inherited_by_fork.py", "waiting", ("write_log_in_child", "a child process")),  # only the job's own names in its stacks: nothing an entry could know
    Hang("queue_joined_before_drained.py", "waiting", ("_finalize_join", "_feed", "a child process"), entry="process-joined-before-queue-drained"),
    Hang("flock_held_by_another.py", "lock", ("build_cache", "cache.lock", "held by PID")),
    Hang("filelock_held_by_another.py", "lock", ("download_model", "acquire"), needs="filelock", entry="file-lock-held-by-another-process"),
    Hang("server_never_answers.py", "waiting", ("ask_for_weights", "the network", "ESTABLISHED")),
    Hang("prompt_in_a_batch_job.py", "waiting", ("confirm_overwrite", "standard input")),
    Hang("spinning.py", "spinning", ("wait_for_worker",), ends=False),
    Hang("stopped_by_signal.py", "stopped", ("stopped by a signal",)),
    Hang("child_never_ends.py", "waiting", ("convert_dataset", "a child process", "sleep")),
    Hang("fifo_without_a_writer.py", "waiting", ("open_samples", "a file to be opened")),
    Hang("future_never_done.py", "waiting", ("collect_results", "preprocess")),
    Hang("asyncio_future_never_set.py", "waiting", ("asyncio_future_never_set.py", "events")),
    Hang("pipe_full.py", "waiting", ("run_tokenizer", "a pipe (write"), entry="subprocess-pipe-not-read"),
    Hang("polls_for_a_file.py", "waiting", ("wait_for_checkpoint", "its own timer")),
    Hang("barrier_of_processes.py", "waiting", ("worker", "a child process")),
    Hang("rank_skips_a_collective.py", "collective", ("save_only_here", "rank 1", "all_reduce"), needs="torch", entry="rank-skips-collective"),
    Hang("rendezvous_without_the_others.py", "collective", ("join_the_group",), needs="torch"),
    Hang("loader_delivers_nothing.py", "loader", ("first_batch", "__getitem__"), needs="torch"),
)

ALIVE = (
    "compiler_works.py",
    "checkpoint_to_a_slow_disk.py",
    "long_evaluation.py",
    "big_import/start.py",
    "scheduler_with_a_heartbeat.py",
    "chatty_child.py",
    "slow_steps.py",
    "one_long_call.py",
    "workers_compute.py",
    "slow_download.py",
    "rhythm_with_a_long_beat.py",
    "training_in_a_while_loop.py",
    "threads_compute.py",
    "shell_pipeline.sh",
    "ranks_train_slowly.py",
    "idle_server.py",
    "asyncio_heartbeat.py",
    "python_child_computes.py",
    "reads_a_big_dataset.py",
    "dots_without_a_line_end.py",
)

Result = tuple["subprocess.CompletedProcess[str]", dict[str, Any]]


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory):
    """Every program's end and report, run a few at a time; each test waits for its own."""
    place = tmp_path_factory.mktemp("hangs")
    with ThreadPoolExecutor(AT_ONCE) as pool:
        yield {
            **{hang.program: pool.submit(_run_hang, hang, place) for hang in HANGS if _has(hang.needs)},
            **{program: pool.submit(_run_alive, program, place) for program in ALIVE if program != "ranks_train_slowly.py" or _has("torch")},
        }


def _has(module: str) -> bool:
    import importlib.util

    return not module or importlib.util.find_spec(module) is not None


def _start(program: Path, report: Path, place: Path) -> subprocess.Popen[str]:
    state = place / report.stem
    environment = {**os.environ, "HOME": str(place), "XDG_STATE_HOME": str(state), "XDG_CACHE_HOME": str(place / "cache"), "OMP_NUM_THREADS": "1"}
    job = ["sh", str(program)] if program.suffix == ".sh" else [sys.executable, str(program)]
    command = [sys.executable, "-m", "kbtool", "run", "--stall", f"{LIMIT}s", "--on-stall", "kill", "--json-report", str(report), "--", *job]
    return subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def _run_hang(hang: Hang, place: Path) -> Result:
    report = place / (hang.program.replace("/", "-") + ".json")
    process = _start(HERE / "hanging" / hang.program, report, place)
    deadline = time.monotonic() + PATIENCE
    while process.poll() is None and time.monotonic() < deadline and (hang.ends or not report.exists()):
        time.sleep(0.05)
    if process.poll() is None:
        process.terminate()
    return _ended(process, report)


def _run_alive(program: str, place: Path) -> Result:
    report = place / (program.replace("/", "-") + ".json")
    return _ended(_start(HERE / "alive" / program, report, place), report)


def _ended(process: subprocess.Popen[str], report: Path) -> Result:
    try:
        out, err = process.communicate(timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        process.terminate()
        out, err = process.communicate()
    data = json.loads(report.read_text()) if report.exists() else {}
    return subprocess.CompletedProcess(process.args, process.returncode, out, err), data


def _result(results: dict[str, Future[Result]], program: str) -> Result:
    if program not in results:
        pytest.skip("a module that it needs is not installed")
    return results[program].result()


@pytest.mark.parametrize("hang", HANGS, ids=lambda hang: hang.program)
def test_hang_is_declared_and_named(hang: Hang, results) -> None:
    """A hang is declared within its limit plus ten seconds, with its class, and the report names the place that tells."""
    ended, report = _result(results, hang.program)
    assert report.get("stalls"), ended.stderr
    stall = report["stalls"][0]
    assert stall["class"] == hang.kind, stall
    told = json.dumps(stall)
    assert [name for name in hang.names if name not in told] == [], told
    assert stall["seconds"] <= LIMIT + 10
    assert ended.returncode == (124 if hang.ends else -15), ended.stderr
    assert f"stalled ({hang.kind})" in ended.stderr


@pytest.mark.parametrize("hang", [hang for hang in HANGS if hang.entry], ids=lambda hang: hang.entry)
def test_shipped_entry_comes_first(hang: Hang, results) -> None:
    """Where a shipped entry knows this kind of hang, it is the first match of the stall."""
    if not (shipped_entries() / "hang" / f"{hang.entry}.md").exists():
        pytest.skip("no such entry is shipped")
    _, report = _result(results, hang.program)
    assert [match["id"] for match in report["stalls"][0]["matches"]][:1] == [hang.entry]


@pytest.mark.parametrize("program", ALIVE)
def test_slow_but_alive_is_left_in_peace(program: str, results) -> None:
    """A job that is slow, silent and alive raises no alarm and ends as it would have."""
    ended, report = _result(results, program)
    assert ended.returncode == 0, ended.stderr
    assert report["stalls"] == [], ended.stderr
    assert ended.stderr == ""


def test_odd_rank_stands_first(results) -> None:
    """Of three ranks the one that left the others alone is the first stack of the report."""
    _, report = _result(results, "rank_skips_a_collective.py")
    first = report["stalls"][0]["stacks"][0]
    assert [member["rank"] for member in first["members"]] == [1]
    assert "save_only_here" in [frame["function"] for frame in first["frames"]]


def test_the_swallowed_exception_is_the_first_suspect(results) -> None:
    """The import case: the module, the variable it missed, and where the exception was swallowed."""
    _, report = _result(results, "import_waits/start.py")
    suspect = report["stalls"][0]["suspects"][0]
    assert (suspect["module"], suspect["type"], suspect["names"]) == ("studio.settings", "KeyError", ["STUDIO_MODEL_STORE"])
    assert suspect["passed"] == ["studio.backend"] and suspect["imported_by"].endswith("studio/__init__.py:7")
    assert report["stalls"][0]["importing"]["module"] == "studio"

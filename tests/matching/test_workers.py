"""A large base is read by several processes: the same rows as by one, whatever becomes of them, and none is left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from kbtool.matching import build, workers
from kbtool.matching.scan import scan
from tests.conftest import build_base

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals and process groups")

FILES = 5 * build.CHUNK
PATIENCE = 60
"""Seconds after which a process that should be gone is taken for left behind."""


@pytest.fixture
def root(tmp_path: Path, make_entry: Callable[..., str]) -> Path:
    """A base of some chunks in which one entry is broken, one file can not be read, and one id stands in the first chunk and in the last."""
    names = [f"{'data' if n % 2 else 'model'}/fault-{n:03}" for n in range(FILES)] + ["data/twin", "model/twin"]
    root = build_base(tmp_path / "entries", {name: make_entry(title=f"Fault {name}", symptom=f"RuntimeError: thing {name} at {at}") for at, name in enumerate(names)})
    (root / "data" / "aa-broken.md").write_text("no entry at all\n")
    (root / "model" / "latin.md").write_bytes(b"# \xff\n")
    return root


@pytest.fixture
def two_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two workers for any number of files, on any machine."""
    monkeypatch.setattr(build, "MANY", 1)
    monkeypatch.setattr(workers, "processors", lambda: 2)


def read_by_one(root: Path) -> build.Content:
    """What the files hold, read in this process."""
    return build.read_files(root, scan(root))


def children() -> list[psutil.Process]:
    """Processes that this one started."""
    return [child for child in psutil.Process().children() if child.status() != psutil.STATUS_ZOMBIE]


def test_workers_give_what_one_process_gives(root: Path, monkeypatch: pytest.MonkeyPatch, two_workers: None) -> None:
    """Rows, their order, problems and postings are the same, and every file was read by a worker."""
    with monkeypatch.context() as changed:
        changed.setattr(build, "MANY", FILES * 10)
        expected = read_by_one(root)
    here: list[tuple[int, str]] = []
    monkeypatch.setattr(workers, "read_part", lambda root, chunk: here.extend(chunk))

    assert build.read_files(root, scan(root)) == expected
    assert here == []


def test_broken_files_and_a_taken_id_are_told(root: Path, two_workers: None) -> None:
    """A broken entry in a worker's share and an id that another worker's share has too become problems of their files, the first file winning."""
    problems = {row[0]: row[-1] for row in build.read_files(root, scan(root)).files if row[-1] != "[]"}

    assert sorted(problems) == ["data/aa-broken.md", "model/latin.md", "model/twin.md"]
    assert "the id `twin` is taken by data/twin.md" in problems["model/twin.md"]


@pytest.mark.parametrize("killed", [1, 2])
def test_a_killed_worker_loses_nothing(root: Path, killed: int, monkeypatch: pytest.MonkeyPatch, two_workers: None) -> None:
    """With one worker or all of them killed in the midst of their work the rows are the same."""
    with monkeypatch.context() as changed:
        changed.setattr(build, "MANY", FILES * 10)
        expected = read_by_one(root)

    def kill(done: int, _of: int) -> None:
        if done == 1:
            for child in children()[:killed]:
                child.kill()

    assert build.read_files(root, scan(root), kill) == expected
    assert children() == []


@pytest.mark.parametrize("program", ["/nowhere/python", "/bin/false", "/bin/echo", ""])
def test_without_workers_files_are_read_here(root: Path, program: str, monkeypatch: pytest.MonkeyPatch, two_workers: None) -> None:
    """Where no worker starts, or what starts is none, this process reads the files."""
    with monkeypatch.context() as changed:
        changed.setattr(build, "MANY", FILES * 10)
        expected = read_by_one(root)
    monkeypatch.setattr(sys, "executable", program)

    assert build.read_files(root, scan(root)) == expected


def test_progress_is_told_file_by_file_from_this_thread(root: Path, two_workers: None) -> None:
    """Every file is counted once and in order."""
    told: list[tuple[int, int]] = []
    stamps = scan(root)
    build.read_files(root, stamps, lambda done, of: told.append((done, of)))

    assert told == [(done, len(stamps)) for done in range(1, len(stamps) + 1)]


def test_workers_import_nothing_from_the_current_folder(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, two_workers: None) -> None:
    """A `yaml.py` and a `json.py` beside the user are never run, even where the current folder is on the parent's path."""
    folder = tmp_path / "trap"
    folder.mkdir()
    for name in ("yaml", "json", "kbtool", "sitecustomize"):
        (folder / f"{name}.py").write_text(f"open({str(folder / 'sprung')!r}, 'w')\n")
    monkeypatch.chdir(folder)
    monkeypatch.setattr(sys, "path", ["", str(folder), *sys.path])
    monkeypatch.setenv("PYTHONPATH", str(folder))
    monkeypatch.setattr(workers, "read_part", lambda root, chunk: pytest.fail("was read here"))
    build.read_files(root, scan(root))

    assert sorted(path.name for path in folder.iterdir()) == ["json.py", "kbtool.py", "sitecustomize.py", "yaml.py"]


SCRIPT = """\
import sys, time
from pathlib import Path
from kbtool.matching import build, workers
from kbtool.matching.scan import scan

def wait(done, of):
    if done == 30:  # the workers are in the midst of it
        print("reading", flush=True)
        time.sleep(600)

build.MANY = 1
workers.processors = lambda: 2
try:
    build.read_files(Path(sys.argv[1]), scan(Path(sys.argv[1])), wait)
except KeyboardInterrupt:
    sys.exit(130)
"""


def reading(root: Path) -> tuple[subprocess.Popen[str], list[psutil.Process]]:
    """A program in a process group of its own that is in the midst of reading, and its workers."""
    program = subprocess.Popen([sys.executable, "-c", SCRIPT, str(root)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)
    assert program.stdout is not None and program.stdout.readline() == "reading\n"
    return program, psutil.Process(program.pid).children()


def left(processes: list[psutil.Process]) -> list[psutil.Process]:
    """Those that still run after some patience."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline and any(one.is_running() and one.status() != psutil.STATUS_ZOMBIE for one in processes):
        time.sleep(0.02)
    return [one for one in processes if one.is_running() and one.status() != psutil.STATUS_ZOMBIE]


def test_an_interrupt_ends_the_workers_silently(root: Path) -> None:
    """Ctrl-C, which the terminal sends to the whole group, leaves no worker and no word of theirs."""
    program, started = reading(root)
    for worker in started:  # before their parent, which would end them at once
        worker.send_signal(signal.SIGINT)
    assert (len(started), left(started)) == (2, [])
    os.killpg(program.pid, signal.SIGINT)
    _, said = program.communicate(timeout=PATIENCE)

    assert (program.returncode, said) == (130, "")


def test_an_error_in_the_parent_leaves_no_worker(root: Path, two_workers: None) -> None:
    """When reading is given up half-way, the workers are gone before the error is seen."""

    def give_up(done: int, _of: int) -> None:
        assert len(children()) == 2
        raise TimeoutError

    with pytest.raises(TimeoutError) as held:  # whose traceback keeps what the failed call had at hand
        build.read_files(root, scan(root), give_up)
    assert (children(), held.typename) == ([], "TimeoutError")


def test_workers_end_with_a_killed_parent(root: Path) -> None:
    """Where the parent can not tidy up, the end of their stdin ends the workers."""
    program, started = reading(root)
    program.kill()
    program.communicate(timeout=PATIENCE)

    assert len(started) == 2
    assert left(started) == []

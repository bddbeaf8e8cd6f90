"""`kb probe loader`: real torch DataLoaders with tiny datasets, timed in a process of their own."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from kbtool.supervision.loader_reading import best_run, read_timing
from kbtool.supervision.loader_timing import Facts, LoaderTiming, Run, Samples
from tests.conftest import Kb
from tests.supervision.probing import kinds, started_here

LOADERS = """
import os
import time
import torch
from torch.utils.data import DataLoader, Dataset, IterableDataset

class Sleepy(Dataset):
    def __len__(self):
        return 60
    def __getitem__(self, index):
        time.sleep(1.2 if index == 37 else 0.004)
        return torch.zeros(8)

class Leaky(Dataset):
    kept = []
    def __len__(self):
        return 200
    def __getitem__(self, index):
        self.kept.append(bytearray(os.urandom(1024)) * 512)
        return torch.zeros(8)

class Unpicklable(Dataset):
    def __init__(self):
        self.transform = lambda value: value
    def __len__(self):
        return 40
    def __getitem__(self, index):
        return torch.zeros(8)

class Stuck(Dataset):
    def __len__(self):
        return 8
    def __getitem__(self, index):
        if torch.utils.data.get_worker_info() is not None:
            time.sleep(600)
        return torch.zeros(8)

class Stream(IterableDataset):
    def __iter__(self):
        for number in range(40):
            time.sleep(1.2 if number == 11 else 0.001)
            yield number

def sleepy(): return DataLoader(Sleepy(), batch_size=4)
def leaky(): return DataLoader(Leaky(), batch_size=4)
def unpicklable(): return DataLoader(Unpicklable(), batch_size=4, num_workers=1, multiprocessing_context="spawn", pin_memory=True)
def stuck(): return DataLoader(Stuck(), batch_size=4)
stream = DataLoader(Stream(), batch_size=4)
def empty(): return DataLoader([])
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A folder with the loaders' module; modules named like kb's own lie beside it."""
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "loaders.py").write_text(LOADERS)
    (folder / "readings.py").write_text("from loaders import empty\n")
    (folder / "plain.py").write_text("nothing = 3\ndef needs_more(path): ...\n")
    (folder / "looks_for_kb.py").write_text("import importlib.util\nassert importlib.util.find_spec('loader_reading') is None\nnothing = 3\n")
    (folder / "endless.py").write_text("import time\ntime.sleep(600)\n")
    (folder / "broken.py").write_text("raise RuntimeError('no data folder')\n")
    return folder


def probe(kb: Kb, project: Path, target: str, *options: str, code: int = 0) -> dict[str, Any]:
    """What `kb probe loader --json` says, run in the project's folder with the tests' own python."""
    done = kb("probe", "loader", target, "--json", *options, cwd=project, env={"KB_PYTHON": sys.executable}, timeout=300)
    assert (done.returncode, done.stderr) == (code, "")
    assert [line for line in started_here() if "loader_trial.py" in line] == []
    told: dict[str, Any] = json.loads(done.stdout)
    return told


@pytest.mark.torch
def test_waiting_samples_are_io_bound_and_the_slow_one_has_its_index(kb: Kb, project: Path) -> None:
    """A dataset that waits is I/O-bound, its slow sample is named by index, and every worker count has a first batch."""
    told = probe(kb, project, "loaders:sleepy", "--workers", "0,2")

    assert [run["workers"] for run in told["runs"]] == [0, 2]
    assert all(run["first"] > 0 and run["batches"] == 15 for run in told["runs"])
    assert "io-bound" in kinds(told["readings"])
    assert told["samples"]["slowest"][0][0] == "37"
    assert "slow sample" in kinds(told["readings"])
    assert told["facts"]["torch"]


@pytest.mark.torch
def test_memory_that_grows_is_found(kb: Kb, project: Path) -> None:
    """A dataset that keeps half a megabyte a sample is said to grow; the other counts do not inherit what the first has kept."""
    told = probe(kb, project, "loaders:leaky", "--workers", "0,1", "--batches", "40")

    assert "memory grows" in kinds(told["readings"])


@pytest.mark.torch
def test_a_dataset_that_can_not_be_sent_to_workers(kb: Kb, project: Path) -> None:
    """With workers it fails, without it works: both are told, with the error's own words."""
    told = probe(kb, project, "loaders:unpicklable", "--workers", "0")
    fails = next(one["text"] for one in told["readings"] if one["kind"] == "fails")

    assert "with 1 worker it fails (without workers it works)" in fails
    assert "pickle" in fails
    assert "pinned without a GPU" in kinds(told["readings"]) or told["facts"]["gpu"]


@pytest.mark.torch
def test_a_loader_that_hangs_with_workers_ends_at_its_deadline(kb: Kb, project: Path) -> None:
    """Workers that never deliver: told as a hang, the deadline holds, and nothing is left running."""
    told = probe(kb, project, "loaders:stuck", "--workers", "0,1", "--timeout", "60s")

    assert {"hangs", "cut short"} & set(kinds(told["readings"]))
    assert told["runs"][0]["first"] is not None


@pytest.mark.torch
def test_samples_of_an_iterable_dataset_are_numbered(kb: Kb, project: Path) -> None:
    """Samples of a stream are told by the order in which they come."""
    told = probe(kb, project, "loaders:stream", "--workers", "0")

    assert told["samples"]["slowest"][0][0] == "11"


@pytest.mark.torch
def test_a_table_for_people(kb: Kb, project: Path) -> None:
    """One line a worker count; a loader over nothing is exit 1; a module named like one of kb's own is the user's."""
    done = kb("probe", "loader", "readings.py:empty", "--workers", "0", cwd=project, env={"KB_PYTHON": sys.executable})

    assert done.returncode == 1
    assert done.stdout.splitlines()[0].startswith("readings.py:empty  0 batches of 1 · 0 workers set")
    assert done.stdout.splitlines()[2].split() == ["0", "no", "batch"]
    assert "it gave no batch at all" in done.stdout


@pytest.mark.parametrize(
    ("target", "said"),
    [
        ("plain:nope", "has no attribute 'nope'"),
        ("plain:nothing", "it is of type int: no torch DataLoader"),
        ("looks_for_kb:nothing", "it is of type int"),
        ("plain:needs_more", "missing 1 required positional argument: 'path'"),
        ("broken:loader", "RuntimeError: no data folder"),
        ("nowhere:loader", "No module named 'nowhere'"),
        ("loaders", "names no loader"),
    ],
)
def test_what_is_no_loader_is_an_error(target: str, said: str, kb: Kb, project: Path) -> None:
    """A module or attribute that gives no loader is one sentence and a hint, exit 2."""
    done = kb("probe", "loader", target, cwd=project, env={"KB_PYTHON": sys.executable})

    assert done.returncode == 2
    assert said in done.stderr
    assert "hint: " in done.stderr


def test_the_deadline_holds_while_importing(kb: Kb, project: Path) -> None:
    """A module whose import never ends is given up at the deadline, with what to do; nothing is left running."""
    done = kb("probe", "loader", "endless:loader", "--timeout", "2s", cwd=project, env={"KB_PYTHON": sys.executable}, timeout=60)

    assert done.returncode == 2
    assert "importing it did not end within" in done.stderr
    assert [line for line in started_here() if "loader_trial.py" in line] == []


@pytest.mark.parametrize("counts", ["a", "-1", "", "0,,1"])
def test_worker_counts_are_checked(counts: str, kb: Kb) -> None:
    """What is no list of counts is refused before anything runs."""
    assert kb("probe", "loader", "x:y", "--workers", counts).returncode == 2


MIB = 1 << 20
FACTS = Facts(cores=8, file_limit=1024, shared_total=64 * MIB, batches=100, workers=2, pin_memory=False, gpu=True, own_class=None)
COMPUTING = Samples(400, 20.0, 19.8, 0.0, 0.1, 0.05, ())
WAITING = replace(COMPUTING, cpu=0.4)


def run(workers: int, per_batch: float, first: float = 0.3, **more: Any) -> Run:
    """A run of 101 batches."""
    return Run(workers, first, 101, per_batch * 100, per_batch, **more)


def timing(*runs: Run, samples: Samples | None = COMPUTING, facts: Facts = FACTS, **more: Any) -> LoaderTiming:
    """What was timed."""
    return LoaderTiming("x:y", facts, runs, samples, **more)


READINGS: dict[str, LoaderTiming] = {
    "cpu-bound": timing(run(0, 0.2), run(4, 0.06)),
    "cpu-saturated": timing(run(0, 0.2), run(4, 0.19)),
    "io-bound": timing(run(0, 0.2), run(4, 0.06), samples=WAITING),
    "crowded": timing(run(0, 0.2), samples=replace(COMPUTING, cpu=10.0, queued=9.0)),
    "cheap": timing(run(0, 0.001), run(4, 0.001)),
    "collate": timing(run(0, 0.2), samples=replace(COMPUTING, collate=21.0)),
    "cold storage": timing(run(0, 0.2), run(4, 0.02), samples=WAITING, again=run(0, 0.02)),
    "startup-bound": timing(run(0, 0.01), run(4, 0.005, first=9.0)),
    "slow sample": timing(run(0, 0.2), samples=replace(COMPUTING, slowest=(("17", 2.0), ("3", 0.06)))),
    "memory grows": timing(run(1, 0.1, memory=((0, 50 * MIB), (0, 80 * MIB), (0, 120 * MIB)))),
    "heavy workers": timing(run(2, 0.1, memory=((0, 400 * MIB, 400 * MIB),) * 3)),
    "shared memory": timing(run(4, 0.1, shared=60 * MIB)),
    "file handles": timing(run(4, 0.1, files=900)),
    "too many workers": timing(run(0, 0.2), facts=replace(FACTS, workers=16)),
    "own class": timing(run(0, 0.2), facts=replace(FACTS, own_class="MyLoader")),
    "cut short": timing(run(0, 0.2), cut_short=4, ended="timeout"),
}


@pytest.mark.parametrize("kind", READINGS)
def test_each_pattern_of_times_has_its_word(kind: str) -> None:
    """Figures as they are measured lead to the reading they stand for."""
    assert kind in kinds(read_timing(READINGS[kind]))


def test_waiting_for_a_core_is_not_waiting_for_data() -> None:
    """Samples that mostly queue for a busy CPU are CPU-bound, not I/O-bound."""
    found = kinds(read_timing(READINGS["crowded"]))

    assert "io-bound" not in found
    assert "cpu-saturated" in found


def test_a_healthy_loader_has_only_its_advice() -> None:
    """A loader that scales and grows nowhere gets its bound and its advice, nothing else; few workers win over equally fast many."""
    healthy = timing(run(0, 0.2, memory=((MIB,),) * 3), run(2, 0.06), run(4, 0.058))
    best = best_run(healthy)

    assert kinds(read_timing(healthy)) == ["cpu-bound", "advice"]
    assert best is not None
    assert best.workers == 2

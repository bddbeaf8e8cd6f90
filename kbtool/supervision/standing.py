"""Where a running job stands, asked from outside: its process tree, what each thread waits for, its stacks, and what that means.

The stacks, the classes and the sentences are those of `kb run`; here they are applied to a job that was started without it. It is
looked at for a second or two and only read: a job that moves meanwhile is alive, whatever its stacks say.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from kbtool.errors import KbError
from kbtool.supervision import verdict
from kbtool.supervision.family import Family, descendants_of
from kbtool.supervision.gpu import open_gpus
from kbtool.supervision.heartbeat import Heartbeat
from kbtool.supervision.investigation import PROCESSES_LOOKED_AT, Scene, investigate
from kbtool.supervision.output import Output
from kbtool.supervision.partners import partner_of
from kbtool.supervision.processes import ProcessSample, command_line, sample
from kbtool.supervision.report import Report, Stall
from kbtool.supervision.signs import BUSY_CPU, Look, Rates, Signs
from kbtool.supervision.stacks import capture
from kbtool.supervision.startup_record import RANK_VARIABLES, ProcessRecord, StartupRecords
from kbtool.supervision.verdict import StallClass
from kbtool.supervision.waits import Wait, wait_of, wait_when_still

WINDOW = 1.5
"""Seconds in which a job that moves shows it."""

SPIN_PAUSE = 0.3
THREADS_LOOKED_AT = 64

STATES = {"R": "running", "S": "sleeping", "D": "in the kernel (disk or driver)", "T": "stopped", "t": "traced", "Z": "ended, not collected", "I": "idle"}
"""Letters of the kernel in words."""


@dataclass(frozen=True)
class Standing:
    """One process: its state, what its main thread waits for, and what its other threads do."""

    seen: ProcessSample
    command: str
    cores: float
    wait: Wait
    partner: str = ""
    """Who has to act for the wait to end."""
    others: tuple[tuple[str, int], ...] = ()
    """What other threads wait for, and how many of them."""

    def to_json(self) -> dict[str, Any]:
        """The process as `--json` gives it."""
        return {
            "pid": self.seen.pid,
            "parent": self.seen.parent,
            "command": self.command,
            "state": self.seen.state,
            "threads": self.seen.threads,
            "cpu": round(self.cores, 2),
            "memory": self.seen.rss,
            "waits_for": {"kind": self.wait.kind, "words": self.wait.words, "path": self.wait.path, "partner": self.partner},
            "other_threads": [{"words": words, "count": count} for words, count in self.others],
        }


@dataclass(frozen=True)
class Picture:
    """The whole job at this moment."""

    pid: int
    processes: tuple[Standing, ...]
    stall: Stall
    """Class, evidence, stacks and what the base knows, in the words of `kb run`; its class is `alive` for a job that moves."""
    rates: Rates

    def to_json(self) -> dict[str, Any]:
        """The picture as `--json` gives it; the keys of a stall are those of kb run's report."""
        told: dict[str, Any] = Report(stalls=[self.stall]).to_json()["stalls"][0]
        return {"pid": self.pid, **told, "processes": [one.to_json() for one in self.processes]}


@dataclass
class _Outsider(Family):
    """A job that kb did not start: its members are found from its first process down."""

    def members(self) -> list[int]:
        return [self.leader, *descendants_of(self.leader)]


@dataclass
class _Observation:
    """What is gathered while the job is looked at."""

    family: Family
    records: StartupRecords | None
    signs: Signs
    before: dict[int, ProcessSample] = field(default_factory=dict)


def look_at_job(pid: int, *, window: float = WINDOW, progress: Callable[[str], object] | None = None) -> Picture:
    """Where the job stands whose first process is `pid`. Raises KbError when there is no such process."""
    if not Path(f"/proc/{pid}").exists():
        raise KbError(f"no process has the number {pid}", hint="`ps aux` lists them")
    tell = progress or (lambda words: None)
    begun = time.monotonic()
    watched = _Observation(_Outsider(pid), records_of(pid), Signs(window, begun))
    tell("looking whether it moves")
    rates = _follow(watched, window)
    tell("reading stacks")
    kind = _class_of_moving(watched, rates)
    scene = Scene(watched.family, watched.records or with_ranks(watched.family.members()), watched.signs, Output(), Heartbeat())
    stall = investigate(scene, window, kind)
    if stall is None or not Path(f"/proc/{pid}").exists():
        raise KbError(f"PID {pid} has ended while it was looked at", hint="`kb match` reads the log that it left")
    tell("asking who it waits for")
    told = replace(stall, evidence=(_signs(rates, window), *stall.evidence[1:]), answer=None if kind is StallClass.ALIVE else stall.answer)
    return Picture(pid, _standings(watched, rates), told, rates)


def records_of(pid: int) -> StartupRecords | None:
    """The startup records of a job that `kb run` started, by the folder that its variables name."""
    folder = variables_of(pid).get("KB_RUN_FOLDER")
    if not folder:
        return None
    records = StartupRecords(Path(folder))
    records.update()
    return records


def with_ranks(pids: Sequence[int]) -> StartupRecords:
    """What stands in for the records of a job that kb did not start: no more than the ranks that the processes' variables name."""
    records = StartupRecords(Path("/nonexistent"))
    for pid in pids:
        variables = {name: value for name, value in variables_of(pid).items() if name in RANK_VARIABLES}
        if variables:
            records.by_pid[pid] = ProcessRecord(pid, records.folder / "none", {"variables": variables})
    return records


def variables_of(pid: int) -> dict[str, str]:
    """The variables that a process was started with; empty where this user may not see them."""
    with contextlib.suppress(OSError):
        pairs = [pair.partition(b"=") for pair in Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")]
        return {os.fsdecode(name): os.fsdecode(value) for name, _, value in pairs}
    return {}


def _follow(watched: _Observation, window: float) -> Rates:
    """Two looks with the window between them."""
    gpus = open_gpus(watched.family.run_helper)

    def look() -> None:
        seen = sample(watched.family.members())
        watched.before = watched.before or seen
        watched.signs.add(Look(time.monotonic(), 0, seen, max((gpu.utilization for gpu in gpus()), default=None)))

    look()
    time.sleep(window)
    look()
    return watched.signs.rates


def _class_of_moving(watched: _Observation, rates: Rates) -> StallClass | None:
    """The class of a job that does something; None for one in which nothing moves."""
    if rates.flat:
        return None
    if rates.cpu < BUSY_CPU or not rates.busy:
        return StallClass.ALIVE
    return _spinning(watched, rates) or StallClass.ALIVE


def _spinning(watched: _Observation, rates: Rates) -> StallClass | None:
    """Busy, and at the same few lines at every look: spinning, or polling for a peer in a collective."""
    records = watched.records.by_pid if watched.records else {}
    looks = []
    for _ in range(verdict.SPIN_LOOKS):
        looks.append(verdict.busy_threads(capture(rates.busy, records, watched.family).stacks, rates.busy_in_main))
        time.sleep(SPIN_PAUSE)
    return verdict.class_of_busy(looks)


def _signs(rates: Rates, window: float) -> str:
    gpu = "no GPU seen" if rates.gpu is None else f"GPU {rates.gpu:.0f} %"
    return f"over {window:g} s: CPU {rates.cpu:.2f} cores, {rates.written + rates.storage:.0f} B/s written, {rates.read:.0f} B/s read, {gpu}"


def _standings(watched: _Observation, rates: Rates) -> tuple[Standing, ...]:
    found = []
    for pid, seen in list(sample(watched.family.members()).items())[:PROCESSES_LOOKED_AT]:
        wait = wait_when_still(pid) if rates.flat else wait_of(pid)
        before = watched.before.get(pid)
        cores = max(seen.cpu - before.cpu, 0.0) / max(time.monotonic() - watched.signs.started, 1e-3) if before else 0.0
        found.append(Standing(seen, " ".join(command_line(pid)) or f"[{seen.name}]", cores, wait, partner_of(pid, wait), _other_threads(pid)))
    return tuple(found)


def _other_threads(pid: int) -> tuple[tuple[str, int], ...]:
    counted: Counter[str] = Counter()
    with contextlib.suppress(OSError):
        threads = [int(name) for name in os.listdir(f"/proc/{pid}/task") if int(name) != pid]
        counted.update(wait_of(pid, thread).words for thread in threads[:THREADS_LOOKED_AT])
    return tuple(counted.most_common(4))

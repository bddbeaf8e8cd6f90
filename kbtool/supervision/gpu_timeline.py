"""The GPUs over some seconds: utilisation and memory of each device, memory and CPU of each process on it, and the job's own step."""

from __future__ import annotations

import contextlib
import os
import stat
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kbtool.errors import KbError
from kbtool.supervision.family import descendants_of
from kbtool.supervision.heartbeat import Heartbeat
from kbtool.supervision.nvidia_smi import Device, GpuProcess, NvidiaSmi
from kbtool.supervision.processes import sample

PERIOD = 1.0
"""Seconds between two looks; nvidia-smi may take longer by itself."""

_LOG_TAIL = 64 << 10


@dataclass(frozen=True)
class Moment:
    """One look. `at` is seconds after the first."""

    at: float
    devices: Mapping[int, Device]
    processes: tuple[GpuProcess, ...]
    cpu: Mapping[int, float]
    """Cores that each process of the job has used since the look before; empty at the first."""
    step: float | None = None
    """The step that the job's log had come to."""


@dataclass(frozen=True)
class Timeline:
    """All looks. `pid` and its descendants are the job, where one was named."""

    moments: tuple[Moment, ...]
    pid: int | None = None
    job: tuple[int, ...] = ()
    log: str | None = None

    @property
    def devices(self) -> list[int]:
        """The GPUs looked at: those that the job is on, else all."""
        everything = sorted({index for moment in self.moments for index in moment.devices})
        used = {device.uuid for device in self.moments[-1].devices.values()} & {one.uuid for one in self.job_processes()}
        mine = [index for index in everything if self.last(index).uuid in used]
        return mine or everything

    def last(self, index: int) -> Device:
        """A device as it was seen last."""
        return next(moment.devices[index] for moment in reversed(self.moments) if index in moment.devices)

    def job_processes(self) -> list[GpuProcess]:
        """What the job has on GPUs, over all looks; empty when no job was named or it is on none."""
        return [one for moment in self.moments for one in moment.processes if one.pid in self.job]

    def series(self, index: int, value: Callable[[Device], float | None]) -> list[tuple[float, float]]:
        """Time and value of one device, looks without a value left out."""
        found = [(moment.at, value(moment.devices[index])) for moment in self.moments if index in moment.devices]
        return [(at, number) for at, number in found if number is not None]

    def memory_of(self, uuid: str, pid: int) -> list[tuple[float, float]]:
        """Time and memory (MiB) of one process on one device."""
        return [(moment.at, one.used) for moment in self.moments for one in moment.processes if (one.uuid, one.pid) == (uuid, pid) and one.used is not None]

    def processes_on(self, uuid: str) -> dict[int, GpuProcess]:
        """The processes seen on a device, as they were seen last."""
        return {one.pid: one for moment in self.moments for one in moment.processes if one.uuid == uuid}

    def busiest_cpu(self) -> float:
        """Most cores that one process of the job has used on average; without a job: one of those on a GPU."""
        totals: dict[int, list[float]] = {}
        for moment in self.moments[1:]:
            for pid, cores in moment.cpu.items():
                totals.setdefault(pid, []).append(cores)
        return max((sum(values) / max(len(self.moments) - 1, 1) for values in totals.values()), default=0.0)

    def step_at(self, at: float) -> float | None:
        """The job's step at a time."""
        return next((moment.step for moment in self.moments if moment.at >= at and moment.step is not None), None)

    def to_json(self) -> dict[str, Any]:
        """All looks as `--json` gives them."""
        return {"pid": self.pid, "log": self.log, "moments": [_moment_json(moment) for moment in self.moments]}


def watch_gpus(
    seconds: float,
    pid: int | None = None,
    log: Path | None = None,
    *,
    period: float = PERIOD,
    progress: Callable[[float], object] | None = None,
    _clock: Callable[[], float] = time.monotonic,
    _sleep: Callable[[float], object] = time.sleep,
) -> Timeline:
    """Look at the GPUs for `seconds`, at least twice. Raises KbError: when there is no GPU (NEGATIVE), or no such process."""
    smi = NvidiaSmi()
    if pid is not None and not Path(f"/proc/{pid}").exists():
        raise KbError(f"no process has the number {pid}", hint="`nvidia-smi` lists those on a GPU")
    follower = LogFollower(log or (log_of(pid) if pid else None))
    moments: list[Moment] = []
    job: tuple[int, ...] = ()
    begun = _clock()
    before: dict[int, tuple[float, float]] = {}
    while True:
        at = _clock() - begun
        devices, processes = smi.devices(), tuple(smi.processes())
        below = descendants_of(pid) if pid else []
        job = tuple(dict.fromkeys((*job, pid, *below) if pid else (*job, *(one.pid for one in processes))))
        cpu, before = _cpu(job, before)
        moments.append(Moment(at, {device.index: device for device in devices}, processes, cpu, follower.step()))
        if len(moments) > 1 and at + period > seconds:
            return Timeline(tuple(moments), pid, job, str(follower.path) if follower.path else None)
        if progress is not None:
            progress(at)
        _sleep(max(period - (_clock() - begun - at), 0.0))


def _cpu(pids: Sequence[int], before: Mapping[int, tuple[float, float]]) -> tuple[dict[int, float], dict[int, tuple[float, float]]]:
    """Cores used since the last look, and what the next look needs to know."""
    now = time.monotonic()
    seen = {pid: (now, one.cpu) for pid, one in sample(pids).items()}
    return {pid: (cpu - before[pid][1]) / max(at - before[pid][0], 1e-3) for pid, (at, cpu) in seen.items() if pid in before}, seen


def log_of(pid: int) -> Path | None:
    """The file that a process's output goes to, when it is a file."""
    for descriptor in (1, 2):
        with contextlib.suppress(OSError):
            target = os.readlink(f"/proc/{pid}/fd/{descriptor}")
            if stat.S_ISREG(os.stat(target).st_mode):
                return Path(target)
    return None


@dataclass
class LogFollower:
    """Reads what a job's log has got since the last time, for the step that it has come to."""

    path: Path | None
    _heartbeat: Heartbeat = field(default_factory=Heartbeat)
    _offset: int = -1

    def step(self) -> float | None:
        """The last step in the log so far; None where it shows none."""
        if self.path is None:
            return None
        with contextlib.suppress(OSError), open(self.path, "rb") as file:
            end = file.seek(0, os.SEEK_END)
            file.seek(self._offset if 0 <= self._offset <= end else max(end - _LOG_TAIL, 0))
            for _ in self._heartbeat.read(file.read(_LOG_TAIL), time.monotonic()):
                pass
            self._offset = file.tell()
        return self._heartbeat.values.get("step")


def _moment_json(moment: Moment) -> dict[str, Any]:
    return {
        "at": round(moment.at, 2),
        "step": moment.step,
        "devices": [vars(device) for device in moment.devices.values()],
        "processes": [vars(one) for one in moment.processes],
        "cpu": {str(pid): round(cores, 2) for pid, cores in moment.cpu.items()},
    }

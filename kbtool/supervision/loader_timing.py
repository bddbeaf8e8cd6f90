"""Timing a data loader with several numbers of workers, in a process of the user's own Python; kb itself never imports torch."""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kbtool.errors import KbError
from kbtool.verification.process import Finished, run_command
from kbtool.verification.shell import find_python, surroundings_of, with_python

TRIAL = Path(__file__).with_name("loader_trial.py")
BATCHES = 100
LONGEST_COUNT = 10.0
"""Seconds that batches are taken for with one number of workers, at most."""

_POLL = 0.1
_PRINTED_LIMIT = 1 << 30
"""Bytes that the user's code may print; a loader that prints more is broken."""


@dataclass(frozen=True)
class Run:
    """The loader with one number of workers. Times in seconds, memory in bytes."""

    workers: int
    first: float | None = None
    """Until the first batch, workers' start included; None when none came."""
    batches: int = 0
    seconds: float = 0.0
    """For all batches after the first."""
    longest: float | None = None
    memory: tuple[tuple[int, ...], ...] = ()
    """Private memory of the main process and each worker: after the first batch, in the middle, at the end."""
    shared: int = 0
    """Most that /dev/shm held for it."""
    files: int = 0
    """Most descriptors that the main process had open."""
    overdue: str | None = None
    """Where it stood when its time was up and no batch had come."""
    error: str | None = None

    @property
    def per_batch(self) -> float | None:
        """Seconds a batch once it runs; None with fewer than two batches."""
        return self.seconds / (self.batches - 1) if self.batches > 1 else None

    @property
    def worker_memory(self) -> float:
        """Private bytes of one worker at the end, on average."""
        last = self.memory[-1][1:] if self.memory else ()
        return sum(last) / len(last) if last else 0.0

    def to_json(self) -> dict[str, Any]:
        """The figures as `--json` gives them."""
        return {
            "workers": self.workers,
            "first": self.first,
            "per_batch": self.per_batch,
            "longest": self.longest,
            "batches": self.batches,
            "worker_memory": round(self.worker_memory),
            "shared": self.shared,
            "files": self.files,
            "overdue": self.overdue,
            "error": self.error,
        }


@dataclass(frozen=True)
class Samples:
    """Single samples, timed in the main process. Seconds."""

    count: int
    wall: float
    cpu: float
    queued: float
    """Ready to compute, and no core was free."""
    collate: float
    median: float
    slowest: tuple[tuple[str, float], ...]
    """Index (or the place in an iterable dataset) and time, the slowest first."""


@dataclass(frozen=True)
class Facts:
    """What is true of the loader and of the machine, as the trial has seen it."""

    cores: int
    file_limit: int | None
    shared_total: int | None
    batches: int | None
    workers: int
    pin_memory: bool
    gpu: bool
    own_class: str | None
    more: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class LoaderTiming:
    """Everything that was timed, as far as it came."""

    target: str
    facts: Facts
    runs: tuple[Run, ...]
    samples: Samples | None = None
    again: Run | None = None
    """Without workers once more, at the end: what was read before comes from memory now."""
    cut_short: int | None = None
    """The number of workers that was being timed when the deadline came, or the trial was killed."""
    ended: str = "exit"


def time_loader(
    target: str,
    counts: Sequence[int],
    deadline: float,
    *,
    batches: int = BATCHES,
    progress: Callable[[str], object] | None = None,
) -> LoaderTiming:
    """Time ``MODULE:ATTR`` with each of `counts` and the loader's own number of workers, within `deadline` seconds in all.

    Raises KbError when it can not be imported or is no loader. Nothing of the trial is left running.
    """
    if ":" not in target:
        raise KbError(f"`{target}` names no loader", hint="write MODULE:ATTR, such as `train:make_loader` or `src/train.py:loader`")
    surroundings = surroundings_of()
    if find_python(surroundings.environment) is None:
        raise KbError("no python is on PATH", hint="`KB_PYTHON=/path/to/python kb probe loader …` names the one you train with")
    each = min(LONGEST_COUNT, deadline / (len(counts) + 2) / 2)
    with tempfile.TemporaryDirectory(prefix="kb-loader-") as folder, with_python(surroundings.environment) as environment:
        events = Path(folder) / "events"
        python = str(find_python(environment))
        arguments = [python, str(TRIAL), target, ",".join(map(str, counts)), str(batches), repr(each), str(events)]
        with _following(events, progress):
            done = run_command(arguments, environment={**environment, "PYTHONDONTWRITEBYTECODE": "1"}, timeout=deadline, output_limit=_PRINTED_LIMIT)
        return read_events(target, _events(events), done)


def _events(path: Path) -> list[dict[str, Any]]:
    found = []
    with contextlib.suppress(OSError):
        for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
            with contextlib.suppress(ValueError):  # the last line of a killed trial may be torn
                found.append(json.loads(line))
    return found


@contextlib.contextmanager
def _following(events: Path, progress: Callable[[str], object] | None) -> Iterator[None]:
    """Tell `progress` what the trial does, while it does it."""
    if progress is None:
        yield
        return
    ended = threading.Event()

    def follow() -> None:
        told = 0
        progress("importing")
        while not ended.wait(_POLL):
            found = _events(events)
            if len(found) > told:
                told = len(found)
                progress(_in_words(found[-1]))

    thread = threading.Thread(target=follow, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def _in_words(event: dict[str, Any]) -> str:
    workers = f"{event.get('workers', 0)} workers"
    words = {
        "start": "the loader is there",
        "count": f"{workers}: waiting for the first batch",
        "first": f"{workers}: first batch after {event.get('seconds', 0):.2f} s",
        "batch": f"{workers}: {event.get('count')} batches",
    }
    return words.get(event["e"], f"{workers}: done")


def read_events(target: str, events: Sequence[dict[str, Any]], done: Finished) -> LoaderTiming:
    """The timing that the events tell. Raises KbError when they say that there was nothing to time."""
    start = next((event for event in events if event["e"] == "start"), None)
    if start is None:
        raise _nothing_timed(target, events, done)
    ended = [event for event in events if event["e"] in ("done", "error", "overdue")]
    runs = [_run(event) for event in ended if not event["again"]]
    again = next((_run(event) for event in ended if event["again"]), None)
    samples = next((_samples(event) for event in events if event["e"] == "samples"), None)
    begun = [event["workers"] for event in events if event["e"] == "count" and not event["again"]]
    unfinished = begun[-1] if begun and begun[-1] not in {run.workers for run in runs} else None
    return LoaderTiming(target, _facts(start), tuple(sorted(runs, key=lambda run: run.workers)), samples, again, unfinished, done.ended)


def _nothing_timed(target: str, events: Sequence[dict[str, Any]], done: Finished) -> KbError:
    missing = next((event for event in events if event["e"] == "missing"), None)
    if missing is not None:
        hint = "name the python you train with: `KB_PYTHON=/path/to/python kb probe loader …`" if "'torch'" in missing["text"] else None
        return KbError(f"{target}: {missing['type']}: {missing['text']}"[:600], hint=hint or "give a DataLoader, or a function without arguments that makes one")
    if done.ended == "timeout":
        return KbError(f"{target}: importing it did not end within {done.seconds:.0f} s", hint="training code at a module's top level? put it behind `if __name__ == '__main__':`")
    last = (done.stderr.strip() or done.stdout.strip() or done.ended).splitlines()[-1]
    return KbError(f"{target}: the trial ended before there was a loader: {last[:300]}", hint="does `python -c 'import …'` of that module work?")


def _run(event: dict[str, Any]) -> Run:
    if event["e"] == "overdue":
        return Run(event["workers"], overdue=event["at"], seconds=event["seconds"])
    if event["e"] == "error":
        return Run(event["workers"], error=f"{event['type']}: {event['text']}")
    if event["first"] is None:
        return Run(event["workers"])
    return Run(
        event["workers"],
        event["first"],
        event["batches"],
        event["seconds"],
        event["longest"],
        tuple(map(tuple, event["memory"])),
        event["shared"],
        event["files"],
    )


def _samples(event: dict[str, Any]) -> Samples:
    slowest = tuple((str(name), float(seconds)) for name, seconds in event["slowest"])
    return Samples(event["count"], event["wall"], event["cpu"], event["queued"], event["collate"], event["median"], slowest)


def _facts(event: dict[str, Any]) -> Facts:
    names = ("batches", "workers", "pin_memory", "gpu", "own_class")
    more = {name: value for name, value in event.items() if name not in (*names, "e")}
    return Facts(_cores(), _file_limit(), _shared_memory(), **{name: event[name] for name in names}, more=more)


def _cores() -> int:
    """The cores that this user's processes may use; the trial inherits them, as it does the limits below."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _file_limit() -> int | None:
    try:
        import resource

        return resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    except ImportError:
        return None


def _shared_memory() -> int | None:
    """Bytes of /dev/shm, where there is one."""
    try:
        place = os.statvfs("/dev/shm")
    except (OSError, AttributeError):
        return None
    return place.f_blocks * place.f_frsize

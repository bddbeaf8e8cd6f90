"""Times a data loader in the user's own Python: a program of its own, standard library and the user's torch only.

Arguments: ``MODULE:ATTR``, the worker counts, batches a count, seconds a count, and the file that events are written to, one JSON
object a line. What the user's code prints is none of our business and goes where it goes.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import signal
import statistics
import sys
import time
import traceback
from typing import Any

SLOWEST, PROGRESS_EVERY = 5, 0.2
"""Samples of which index and time are told; seconds between two signs of progress."""

class Overdue(BaseException):
    """A worker count has used up its seconds; not an Exception, so that the user's handlers let it pass."""


class Log:
    """The file of events; every line is out at once, so that a killed trial still has told what it knew."""

    def __init__(self, path: str):
        self._file = open(path, "a", encoding="utf-8", buffering=1)  # noqa: SIM115  # open until the process ends

    def write(self, event: str, **values: Any) -> None:
        """Append one event."""
        self._file.write(json.dumps({"e": event, **values}) + "\n")


class SampleTimes:
    """How long each sample took, in wall and in CPU seconds."""

    def __init__(self) -> None:
        self.wall: list[tuple[float, str]] = []
        self.cpu = 0.0
        self.queued = 0.0
        self.collate = 0.0

    def time(self, name: str, call: Any) -> Any:
        """Run `call`, note its time under the sample's name."""
        queued, cpu, begun = queued_seconds(), time.process_time(), time.perf_counter()
        value = call()
        self.wall.append((time.perf_counter() - begun, name))
        self.cpu += time.process_time() - cpu
        self.queued += queued_seconds() - queued
        return value

    def collating(self, collate: Any) -> Any:
        """`collate`, its time noted."""

        def timed(samples: Any) -> Any:
            begun = time.perf_counter()
            try:
                return collate(samples)
            finally:
                self.collate += time.perf_counter() - begun

        return timed

    def summary(self) -> dict[str, Any]:
        """Count, sums, median and the slowest samples; the very first is left out of those: it pays for what a dataset opens once."""
        seconds = [wall for wall, _ in self.wall]
        return {
            "count": len(seconds),
            "wall": sum(seconds),
            "cpu": self.cpu,
            "queued": self.queued,
            "collate": self.collate,
            "median": statistics.median(seconds) if seconds else 0.0,
            "slowest": [[name, wall] for wall, name in sorted(self.wall[1:], reverse=True)[:SLOWEST]],
        }


def timed_dataset(dataset: Any, times: SampleTimes, data: Any) -> Any:
    """The same dataset, each access timed. Iterable datasets number their samples in the order in which they come."""

    def get(self: Any, index: Any) -> Any:
        return times.time(str(index), lambda: dataset[index])

    def get_many(self: Any, indices: Any) -> Any:
        return times.time(f"{indices[0]} to {indices[-1]}", lambda: dataset.__getitems__(indices))

    def iterate(self: Any) -> Any:
        source, number, end = iter(dataset), 0, object()
        while (value := times.time(str(number), lambda: next(source, end))) is not end:
            yield value
            number += 1

    members: dict[str, Any] = {"__len__": lambda self: len(dataset), "__getattr__": lambda self, name: getattr(dataset, name)}
    if isinstance(dataset, data.IterableDataset):
        return type("Timed", (data.IterableDataset,), {**members, "__iter__": iterate})()
    in_batches = callable(getattr(dataset, "__getitems__", None)) and not isinstance(dataset, data.Subset)
    members["__getitems__"] = get_many if in_batches else None  # single samples have an index that can be told
    return type("Timed", (data.Dataset,), {**members, "__getitem__": get})()


def find_target(target: str) -> Any:
    """The object that ``MODULE:ATTR`` names, called if it is a function; a path of a file will do for the module."""
    module_name, _, attribute = target.partition(":")
    sys.path.insert(0, os.getcwd())
    if module_name.endswith(".py"):
        folder, file = os.path.split(os.path.abspath(module_name))
        sys.path.insert(0, folder)
        module_name = file[:-3]
    found: Any = importlib.import_module(module_name)
    for part in attribute.split("."):
        found = getattr(found, part)
    return found() if callable(found) else found


def rebuild(loader: Any, workers: int, times: SampleTimes | None, data: Any, can_pin: bool) -> Any:
    """A loader like the user's with another number of workers, and with its samples timed where they are made in this process."""
    options: dict[str, Any] = {
        "num_workers": workers,
        "collate_fn": loader.collate_fn if times is None else times.collating(loader.collate_fn),
        "pin_memory": loader.pin_memory and can_pin,
        "worker_init_fn": loader.worker_init_fn,
        "generator": loader.generator,
    }
    if workers:
        options.update(multiprocessing_context=loader.multiprocessing_context, timeout=loader.timeout, prefetch_factor=loader.prefetch_factor or 2)
    if isinstance(loader.dataset, data.IterableDataset):
        options.update(batch_size=loader.batch_size, drop_last=loader.drop_last)
    elif loader.batch_sampler is not None:
        options["batch_sampler"] = loader.batch_sampler
    else:
        options.update(batch_size=None, sampler=loader.sampler)
    return data.DataLoader(loader.dataset if times is None else timed_dataset(loader.dataset, times, data), **options)


def private_memory(pid: int) -> int:
    """Bytes that belong to the process alone; 0 where the kernel does not tell."""
    with contextlib.suppress(OSError, ValueError), open(f"/proc/{pid}/smaps_rollup", encoding="ascii") as file:
        return sum(int(line.split()[1]) for line in file if line.startswith(("Private_Clean", "Private_Dirty"))) * 1024
    return 0


def queued_seconds() -> float:
    """How long this thread was ready to compute and found no free core: that is neither computing nor waiting for data."""
    with contextlib.suppress(OSError, ValueError, IndexError), open("/proc/thread-self/schedstat", encoding="ascii") as file:
        return int(file.read().split()[1]) / 1e9
    return 0.0


def shared_memory_used() -> int:
    """Bytes in use in /dev/shm."""
    with contextlib.suppress(OSError, AttributeError):
        found = os.statvfs("/dev/shm")
        return (found.f_blocks - found.f_bfree) * found.f_frsize
    return 0


def open_files() -> int:
    """Descriptors that this process has open."""
    with contextlib.suppress(OSError):
        return len(os.listdir("/proc/self/fd"))
    return 0


class Trial:
    """One run over the loader with one number of workers."""

    def __init__(self, log: Log, workers: int, batches: int, seconds: float, again: bool):
        self.log, self.workers, self.batches, self.seconds, self.again = log, workers, batches, seconds, again
        self.times: list[float] = []
        self.memory: list[list[int]] = []
        self.shared = self.files = 0
        self.shared_before = shared_memory_used()

    def run(self, loader: Any) -> None:
        """Take batches until there are enough, or the time is up; the first is told at once."""
        begun = time.perf_counter()
        iterator = iter(loader)
        pids = [worker.pid for worker in getattr(iterator, "_workers", [])]
        first = self._take(iterator, begun)
        if first is None:
            return self.log.write("done", workers=self.workers, again=self.again, first=None)
        self.log.write("first", workers=self.workers, seconds=first)
        self._note(pids)
        steady = told = time.perf_counter()
        while len(self.times) < self.batches and time.perf_counter() - steady < self.seconds:
            if self._take(iterator, time.perf_counter()) is None:
                break
            if len(self.times) == max(self.batches // 2, 2):
                self._note(pids)
            if time.perf_counter() - told > PROGRESS_EVERY:
                told = time.perf_counter()
                self.log.write("batch", workers=self.workers, count=len(self.times))
        wall = time.perf_counter() - steady
        self._note(pids)
        return self.log.write(
            "done",
            workers=self.workers,
            again=self.again,
            first=first,
            batches=len(self.times),
            seconds=wall,
            longest=max(self.times[1:], default=None),
            memory=self.memory,
            shared=max(self.shared - self.shared_before, 0),
            files=self.files,
        )

    def _take(self, iterator: Any, begun: float) -> float | None:
        try:
            batch = next(iterator)  # held until here, so that its shared memory still counts
        except StopIteration:
            return None
        seconds = time.perf_counter() - begun
        self.shared = max(self.shared, shared_memory_used())
        self.files = max(self.files, open_files())
        del batch
        self.times.append(seconds)
        return seconds

    def _note(self, pids: list[int]) -> None:
        self.memory.append([private_memory(pid) for pid in (os.getpid(), *pids)])


def _ring(number: int, frame: Any) -> None:
    raise Overdue


def describe(loader: Any, torch: Any) -> dict[str, Any]:
    """What only this process can tell of the loader, before anything is timed."""
    batches = None
    with contextlib.suppress(TypeError, AttributeError, NotImplementedError):
        batches = len(loader)
    return {
        "torch": torch.__version__,
        "python": sys.version.split()[0],
        "batches": batches,
        "batch_size": loader.batch_size or getattr(loader.batch_sampler, "batch_size", None),
        "workers": loader.num_workers,
        "pin_memory": bool(loader.pin_memory),
        "gpu": bool(torch.cuda.is_available()),
        "own_class": type(loader).__name__ if type(loader) is not torch.utils.data.DataLoader else None,
        "sharing": torch.multiprocessing.get_sharing_strategy(),
    }


class Timing:
    """The user's loader, timed with one number of workers after the other."""

    def __init__(self, loader: Any, data: Any, log: Log, batches: int, seconds: float, can_pin: bool):
        self.loader, self.data, self.log = loader, data, log
        self.batches, self.seconds, self.can_pin = batches, seconds, can_pin

    def run(self, counts: list[int]) -> None:
        """All of them, none first: it meets the storage cold, and in a process of its own, so that nothing it has opened or kept
        helps the others. None again at the end says what was only the first reading."""
        overdue = 0
        for workers in counts:
            if workers == 0:
                overdue += in_a_child(lambda: self.count(0, SampleTimes()))
            elif overdue < 2:
                overdue += self.count(workers)
        if counts[0] == 0 and len(counts) > 1 and not overdue:
            self.count(0, again=True)

    def count(self, workers: int, times: SampleTimes | None = None, again: bool = False) -> int:
        """One number of workers; a failure is one more event. Returns 1 when its time was up before it had ended, else 0."""
        self.log.write("count", workers=workers, again=again)
        ring_after(3 * self.seconds)
        try:
            Trial(self.log, workers, self.batches, self.seconds, again).run(rebuild(self.loader, workers, times, self.data, self.can_pin))
        except Overdue:
            self.log.write("overdue", workers=workers, again=again, seconds=3 * self.seconds, at=place_of(sys.exc_info()[2]))
            return 1
        except BaseException as error:
            told = {"type": type(error).__name__, "text": str(error)[:2000], "traceback": traceback.format_exc()[-8000:]}
            self.log.write("error", workers=workers, again=again, **told)
        finally:
            ring_after(0)
            if times is not None and times.wall:
                self.log.write("samples", **times.summary())
        return 0


def ring_after(seconds: float) -> None:
    """Raise Overdue in so many seconds; 0: no longer."""
    if hasattr(signal, "SIGALRM"):
        signal.signal(signal.SIGALRM, _ring)
        signal.setitimer(signal.ITIMER_REAL, seconds)


def in_a_child(call: Any) -> int:
    """What `call` returns, run in a forked copy of this process; here, where a fork is not possible or threads make it unsafe."""
    try:
        alone = hasattr(os, "fork") and len(os.listdir("/proc/self/task")) == 1
    except OSError:
        alone = False
    pid = os.fork() if alone else None
    if pid is None:
        return int(call())
    if pid == 0:
        os._exit(call())
    return int(os.waitpid(pid, 0)[1] != 0)


def main(target: str, counts: str, batches: str, seconds: str, path: str) -> int:
    """Time the loader with each count; 0 when it was found, 1 when it could not be had."""
    log = Log(path)
    os.environ.setdefault("PYTORCH_NVML_BASED_CUDA_CHECK", "1")  # a look for a GPU that leaves forks possible
    try:
        loader = find_target(target)
        torch: Any = sys.modules.get("torch")  # whoever has a torch loader has imported it
        if torch is None or not isinstance(loader, torch.utils.data.DataLoader):
            raise TypeError(f"it is of type {type(loader).__name__}: no torch DataLoader, nor a function that makes one")
    except BaseException as error:
        log.write("missing", type=type(error).__name__, text=str(error), traceback=traceback.format_exc())
        return 1
    facts = describe(loader, torch)
    log.write("start", **facts)
    Timing(loader, torch.utils.data, log, int(batches), float(seconds), facts["gpu"]).run(sorted({*map(int, counts.split(",")), loader.num_workers}))
    log.write("end")
    return 0


def place_of(trace: Any) -> str:
    """Where it stood: the innermost frame outside of this file."""
    frames = [frame for frame in traceback.extract_tb(trace) if frame.filename != __file__]
    return f"{frames[-1].name} ({frames[-1].filename}:{frames[-1].lineno})" if frames else "?"


if __name__ == "__main__":
    sys.path[:] = [folder for folder in sys.path if folder != os.path.dirname(os.path.abspath(__file__))]  # kb's modules must not hide the user's
    status = main(*sys.argv[1:6])
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)  # a thread or a worker of the user's must not keep the answer back

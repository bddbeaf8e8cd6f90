"""What the times of a loader mean: what it waits for, whether workers help, which sample is slow, what grows."""

from __future__ import annotations

from collections.abc import Iterator

from kbtool.quantities import duration, plural, size
from kbtool.supervision.loader_timing import LoaderTiming, Run
from kbtool.supervision.readings import Reading

WAITS = 0.5
"""Share of a sample's time without CPU from which on it is said to wait for storage or a network."""

GAIN = 1.5
"""How many times faster workers have to make it before they are said to help."""

CHEAP = 0.002
"""Seconds a batch under which workers can cost more than they bring."""

CROWDED = 0.25
"""Share of a sample's time spent waiting for a core that is worth telling."""

ENOUGH = 0.1
"""Seconds of measured time from which on a share of it means something."""

SLOW_SAMPLE = 10.0
"""How many times the median a sample takes to be called slow."""

SLOW_SAMPLE_SECONDS = 0.02

SLOW_START = 2.0
"""Seconds to the first batch that deserve a word."""

STARTUP_SHARE = 0.3
"""Share of an epoch that the wait for the first batch may take."""

GROWTH = 8 << 20
"""Bytes that one process has to gain, in both halves of its run, to be said to grow."""

HEAVY_WORKER = 256 << 20
FULL = 0.5
"""Share of /dev/shm or of the file limit from which on there is little room."""


def read_timing(timing: LoaderTiming) -> list[Reading]:
    """The findings: what fails, then what it waits for, then what costs."""
    return [*_failures(timing), *_bound(timing), *_warm(timing), *_slow_samples(timing), *_startup(timing), *_growth(timing), *_resources(timing), *_settings(timing)]


def best_run(timing: LoaderTiming) -> Run | None:
    """The fewest workers that come within 10 % of the best throughput."""
    timed = [run for run in timing.runs if run.per_batch]
    fastest = min((run.per_batch or 0.0 for run in timed), default=0.0)
    return next((run for run in timed if (run.per_batch or 0.0) <= fastest * 1.1), None)


def _failures(timing: LoaderTiming) -> Iterator[Reading]:
    works = [run.workers for run in timing.runs if run.first is not None]
    without = " (without workers it works)" if 0 in works else ""
    failures: dict[str, list[Run]] = {}
    for run in timing.runs:
        if run.error:
            failures.setdefault(run.error.strip().splitlines()[-1][:300], []).append(run)
        elif run.overdue:
            stood = f"; it stood in {run.overdue}" if not run.workers else without or "; the workers deliver nothing"
            yield Reading("hangs", f"{_who(run.workers)} no batch came within {duration(run.seconds)}{stood}")
        elif run.first is None:
            yield Reading("empty", f"{_who(run.workers)} it gave no batch at all")
    for error, runs in failures.items():
        counts = _who(runs[0].workers) if len(runs) == 1 else f"with {', '.join(str(run.workers) for run in runs)} workers"
        yield Reading("fails", f"{counts} it fails{without if runs[0].workers else ''}: {error}")
    if timing.cut_short is not None:
        why = "the deadline came" if timing.ended == "timeout" else "the trial was ended from outside (out of memory?)"
        yield Reading("cut short", f"{_who(timing.cut_short)} it was still being timed when {why}: give more `--timeout`, or see `kb probe stack`")


def _bound(timing: LoaderTiming) -> Iterator[Reading]:
    alone, samples = _alone(timing), timing.samples
    if alone is None or alone.per_batch is None or samples is None or not samples.wall:
        return
    best = min((run for run in timing.runs if run.workers and run.per_batch), key=lambda run: run.per_batch or 0.0, default=None)
    gain = alone.per_batch / best.per_batch if best is not None and best.per_batch else 1.0
    told = "workers bring no gain" if best else "with workers there is nothing to compare with"
    if best and gain >= 1.1:
        told = f"{_who(best.workers)} it is {gain:.1f} times as fast"
    waiting = max(samples.wall - samples.cpu - samples.queued, 0.0) / samples.wall
    cores = plural(timing.facts.cores, "core")
    if alone.per_batch < CHEAP and gain < GAIN:
        yield Reading("cheap", f"a batch takes {duration(alone.per_batch)} without workers, and {told}: num_workers=0 will do")
    elif waiting >= WAITS:
        yield Reading("io-bound", f"I/O-bound: samples spend {waiting:.0%} of their time waiting for storage, a network or a timer; {told}")
    elif gain >= GAIN:
        yield Reading("cpu-bound", f"CPU-bound: samples compute {1 - waiting:.0%} of their time; {told}, until the {cores} are busy")
    else:
        yield Reading("cpu-saturated", f"CPU-bound: samples compute {1 - waiting:.0%} of their time and {told}: the {cores} here are saturated; make a sample cheaper")
    if samples.wall > ENOUGH and samples.queued > CROWDED * samples.wall:
        yield Reading("crowded", f"samples waited {min(samples.queued / samples.wall, 1):.0%} of their time for a free core: other processes compute here too")
    if samples.collate > samples.wall:
        yield Reading("collate", f"collating takes longer ({duration(samples.collate)}) than making the samples ({duration(samples.wall)})")


def _alone(timing: LoaderTiming) -> Run | None:
    """The run without workers that the others are compared with: the second one, which like them finds in memory what the first has read."""
    first = next((run for run in timing.runs if run.workers == 0), None)
    return timing.again if timing.again is not None and timing.again.per_batch else first


def _warm(timing: LoaderTiming) -> Iterator[Reading]:
    first, second = next((run for run in timing.runs if run.workers == 0), None), timing.again
    if not first or not second or not first.per_batch or not second.per_batch or min(first.batches, second.batches) < 10:
        return
    gain = first.per_batch / second.per_batch
    if gain > GAIN and first.seconds > ENOUGH and (timing.samples is None or timing.samples.queued < CROWDED * timing.samples.wall):
        yield Reading(
            "cold storage", f"the same batches came {gain:.1f} times as fast the second time: the first epoch reads from storage, later ones from memory while it lasts"
        )


def _slow_samples(timing: LoaderTiming) -> Iterator[Reading]:
    samples = timing.samples
    if samples is None:
        return
    slow = [(name, seconds) for name, seconds in samples.slowest if seconds >= max(SLOW_SAMPLE * samples.median, SLOW_SAMPLE_SECONDS)]
    if slow:
        named = ", ".join(f"{name} ({duration(seconds)})" for name, seconds in slow)
        many = "one slow sample: index" if len(slow) == 1 else "slow samples: indices"
        yield Reading("slow sample", f"{many} {named}, where the median of {samples.count} is {duration(samples.median)}")


def _startup(timing: LoaderTiming) -> Iterator[Reading]:
    for run in timing.runs:
        if run.first is None or run.per_batch is None:
            continue
        extra = run.first - run.per_batch
        epoch = run.per_batch * timing.facts.batches if timing.facts.batches else None
        share = extra / (extra + epoch) if epoch else 0.0
        if extra > 0.5 and extra > 5 * run.per_batch and (run.first >= SLOW_START or share >= STARTUP_SHARE):
            part = f", {share:.0%} of an epoch" if epoch else ""
            advice = "; persistent_workers=True pays it once only" if run.workers else ": what does the dataset open or build at first?"
            yield Reading("startup-bound", f"start-up-bound: {_who(run.workers)} the first batch takes {duration(run.first)}{part}, later ones {duration(run.per_batch)}{advice}")
            return


def _growth(timing: LoaderTiming) -> Iterator[Reading]:
    for run in timing.runs:
        if len(run.memory) < 3:
            continue
        first, middle, last = run.memory[0], run.memory[len(run.memory) // 2], run.memory[-1]
        grown = [(place, end - begin) for place, (begin, half, end) in enumerate(zip(first, middle, last, strict=True)) if (place == 0) == (run.workers == 0) and min(half - begin, end - half) > GROWTH / 4 and end - begin > GROWTH]
        if grown:
            worst = max(amount for _, amount in grown)
            who = f"{len(grown)} of {plural(run.workers, 'worker')}" if run.workers else "the process"
            yield Reading(
                "memory grows",
                f"memory grows: {_who(run.workers)} {who} gained {size(worst)} in {run.batches - 1} batches ({size(worst / (run.batches - 1))} a batch): "
                "`__getitem__` keeps something, or touches a large list of Python objects (copied page by page after the fork)",
            )
            return
    heavy = max((run for run in timing.runs if run.workers), key=lambda run: run.worker_memory, default=None)
    if heavy is not None and heavy.worker_memory > HEAVY_WORKER:
        yield Reading("heavy workers", f"each worker holds {size(heavy.worker_memory)} of its own: {heavy.workers} of them {size(heavy.worker_memory * heavy.workers)}")


def _resources(timing: LoaderTiming) -> Iterator[Reading]:
    facts = timing.facts
    most = max(timing.runs, key=lambda run: run.shared, default=None)
    if most is not None and facts.shared_total and most.shared > FULL * facts.shared_total:
        yield Reading("shared memory", f"{_who(most.workers)} batches fill {size(most.shared)} of /dev/shm ({size(facts.shared_total)}): more workers or larger batches die with a bus error")
    for run in timing.runs:
        if facts.file_limit and run.files > FULL * facts.file_limit:
            yield Reading("file handles", f"{_who(run.workers)} it has {run.files} files open of {facts.file_limit} allowed (`ulimit -n`)")
            return


def _settings(timing: LoaderTiming) -> Iterator[Reading]:
    facts = timing.facts
    if facts.workers > facts.cores:
        yield Reading("too many workers", f"the loader asks for {plural(facts.workers, 'worker')} on {plural(facts.cores, 'core')}")
    if facts.pin_memory and not facts.gpu:
        yield Reading("pinned without a GPU", "pin_memory is set and there is no GPU: it only costs (it was left off here)")
    if facts.own_class is not None:
        yield Reading("own class", f"the loader is a {facts.own_class}: what was timed is a plain DataLoader with the same dataset, sampler and collate function")
    best = best_run(timing)
    if best is not None and len([run for run in timing.runs if run.per_batch]) > 1:
        yield Reading("advice", f"num_workers={best.workers} is enough here: {duration(best.per_batch or 0.0)} a batch")


def _who(workers: int) -> str:
    return f"with {plural(workers, 'worker')}" if workers else "without workers"

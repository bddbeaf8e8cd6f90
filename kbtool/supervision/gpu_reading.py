"""What a GPU timeline means: a jump to the limit, a leak with its slope, starved, busy, in bursts, idle, throttled."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from kbtool.quantities import duration
from kbtool.supervision.gpu_timeline import Timeline
from kbtool.supervision.nvidia_smi import THROTTLES, Device
from kbtool.supervision.readings import Reading

IDLE, BUSY = 10.0, 70.0
"""Percent of utilisation: below the one a GPU hardly works, above the other it is busy."""

FULL_CPU = 0.9
"""Cores that one process uses while the GPU is idle: it makes the data, and the GPU waits for it."""

FULL_MEMORY = 0.95
"""Share of the memory from which on the next allocation may fail."""

JUMP = 0.5
"""Share of the memory that comes within two looks, to be called a jump."""

LEAK_FIT = 0.8
"""How well a straight line has to explain the memory's growth (R squared)."""

LEAK_SHARE, LEAK_MIB, LEAK_RISES = 0.01, 64.0, 4
"""A leak gains at least this share of the memory, this many MiB, in so many rises."""

ONE_RISE = 0.5
"""A single rise that makes up more than this share of all growth is a step (a model is loaded): what comes after it may still leak."""

THROTTLED_SHARE = 0.2
HELD_SHARE = 0.02

Series = Sequence[tuple[float, float]]


@dataclass(frozen=True)
class Trend:
    """A straight line through a series: `slope` per second, `fit` its R squared, `gain` from first to last."""

    slope: float
    fit: float
    gain: float


def read_timeline(timeline: Timeline) -> list[Reading]:
    """The findings of all devices, then what is true of the job."""
    found = [reading for index in timeline.devices for reading in _device(timeline, index)]
    if timeline.pid is not None and not timeline.job_processes():
        found.append(
            Reading("not on a GPU", f"neither PID {timeline.pid} nor a process below it is on a GPU (inside a container the driver may hide whose memory it is)")
        )
    return found


def _device(timeline: Timeline, index: int) -> Iterator[Reading]:
    device = timeline.last(index)
    yield from _memory(timeline, device)
    yield from _work(timeline, device)
    yield from _throttles(timeline, device)


def _memory(timeline: Timeline, device: Device) -> Iterator[Reading]:
    memory = timeline.series(device.index, lambda one: one.used)
    if len(memory) < 2 or not device.total:
        return
    peak_at, peak = max(memory, key=lambda point: point[1])
    if peak >= FULL_MEMORY * device.total:
        at, rise = biggest_rise(memory)
        if rise >= JUMP * device.total:
            yield Reading(
                "jump", f"GPU {device.index}: memory jumped to {peak / device.total:.0%} at once{_when(timeline, at)}: the model or the batch is too large"
            )
        else:
            yield Reading("full", f"GPU {device.index}: {peak:.0f} of {device.total:.0f} MiB are taken{_when(timeline, peak_at)}; the next allocation may fail")
    yield from _leaks(timeline, device, memory)


def _leaks(timeline: Timeline, device: Device, memory: Series) -> Iterator[Reading]:
    """Processes that grow; the device as a whole where no process is told."""
    named = False
    for pid, one in timeline.processes_on(device.uuid).items():
        series = timeline.memory_of(device.uuid, pid)
        if leaks(series, device.total or 0.0):
            named = True
            yield _leak(timeline, device, f"PID {pid} ({one.name.rsplit('/', 1)[-1]})", after_last_step(series))
    if not named and leaks(memory, device.total or 0.0):
        yield _leak(timeline, device, "its memory", after_last_step(memory))


def _leak(timeline: Timeline, device: Device, who: str, series: Series) -> Reading:
    trend = trend_of(series)
    left = (device.total or 0.0) - series[-1][1]
    steps = _steps(timeline, series)
    per_step = f", {trend.gain / steps:.1f} MiB a step" if steps else ""
    return Reading(
        "leak",
        f"GPU {device.index}: {who} grows by {trend.slope * 60:.0f} MiB a minute{per_step}: full in about {duration(left / trend.slope)} (tensors kept with their graph?)",
    )


def leaks(series: Series, total: float) -> bool:
    """True when memory grows steadily, bit by bit, once the last large step is over."""
    steady = after_last_step(series)
    if len(steady) < LEAK_RISES + 1:
        return False
    trend = trend_of(steady)
    rises = sum(after > before for (_, before), (_, after) in zip(steady, steady[1:], strict=False))
    return trend.gain >= max(LEAK_SHARE * total, LEAK_MIB) and rises >= LEAK_RISES and trend.fit >= LEAK_FIT


def after_last_step(series: Series) -> Series:
    """The part of a series that no single rise dominates."""
    while len(series) > 2:
        rises = [after - before for (_, before), (_, after) in zip(series, series[1:], strict=False)]
        largest = max(range(len(rises)), key=rises.__getitem__)
        if rises[largest] <= ONE_RISE * max(series[-1][1] - series[0][1], 0.0) or rises[largest] <= 0:
            return series
        series = series[largest + 1 :]
    return series


def trend_of(series: Series) -> Trend:
    """The straight line that fits a series of at least two points best."""
    middle_x, middle_y = (sum(column) / len(series) for column in zip(*series, strict=True))
    spread_x = sum((x - middle_x) ** 2 for x, _ in series)
    spread_y = sum((y - middle_y) ** 2 for _, y in series)
    together = sum((x - middle_x) * (y - middle_y) for x, y in series)
    if not spread_x or not spread_y:
        return Trend(0.0, 0.0, 0.0)
    return Trend(together / spread_x, together**2 / (spread_x * spread_y), series[-1][1] - series[0][1])


def biggest_rise(series: Series) -> tuple[float, float]:
    """When memory rose most within two looks, and by how much."""
    return max(((after[0], after[1] - before[1]) for before, after in zip(series, [*series[2:], series[-1]], strict=False)), key=lambda one: one[1])


def _work(timeline: Timeline, device: Device) -> Iterator[Reading]:
    values = [number for _, number in timeline.series(device.index, lambda one: one.utilization)]
    if not values:
        return
    mean = sum(values) / len(values)
    resting = sum(value < IDLE for value in values) / len(values)
    cpu = timeline.busiest_cpu()
    who = f"GPU {device.index}"
    if mean < IDLE and cpu >= FULL_CPU:
        yield Reading("starved", f"{who}: starved: {mean:.0f} % busy while a process keeps {cpu:.1f} cores busy: loading or preparing the data is the limit (`kb probe loader`)")
    elif mean < IDLE and (device.used or 0.0) > HELD_SHARE * (device.total or 0.0):
        yield Reading("waiting", f"{who}: holds {device.used:.0f} MiB and computes nothing ({mean:.0f} % busy, CPU {cpu:.1f} cores): it waits (`kb probe stack PID`)")
    elif mean < IDLE:
        yield Reading("idle", f"{who}: idle ({mean:.0f} % busy, hardly any memory taken)")
    elif mean >= BUSY:
        yield Reading("busy", f"{who}: busy ({mean:.0f} % on average)")
    elif resting >= 0.2 and max(values) >= BUSY:
        yield Reading("bursts", f"{who}: works in bursts: in {resting:.0%} of the looks it rested, {mean:.0f} % on average: between steps it waits (data, logging, saving?)")
    else:
        yield Reading("partly busy", f"{who}: {mean:.0f} % busy on average: small kernels or waits in between")


def _throttles(timeline: Timeline, device: Device) -> Iterator[Reading]:
    masks = [moment.devices[device.index].throttles for moment in timeline.moments if device.index in moment.devices]
    for bit, words in THROTTLES.items():
        share = sum(bool(mask & bit) for mask in masks) / len(masks)
        if share >= THROTTLED_SHARE:
            heat = f", {device.temperature:.0f} °C" if device.temperature is not None else ""
            yield Reading("throttled", f"GPU {device.index}: throttled in {share:.0%} of the looks: {words}{heat}")


def _when(timeline: Timeline, at: float) -> str:
    step = timeline.step_at(at)
    return f" {duration(at)} after the first look" + (f", at step {step:g}" if step is not None else "")


def _steps(timeline: Timeline, series: Series) -> float:
    """Steps that the job's log has made between the first and the last point; 0 where it shows none."""
    first, last = timeline.step_at(series[0][0]), timeline.step_at(series[-1][0])
    return last - first if first is not None and last is not None else 0.0

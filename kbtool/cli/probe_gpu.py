"""`kb probe gpu [PID]`, drawn."""

from __future__ import annotations

import shutil
from pathlib import Path

from kbtool.cli.probe_text import end_progress, need_linux, print_readings, progress, write_svg
from kbtool.cli.render import print_json, safe_line, styled
from kbtool.errors import ExitStatus
from kbtool.supervision.chart import Chart, draw, squeeze, svg_of
from kbtool.supervision.gpu_reading import read_timeline
from kbtool.supervision.gpu_timeline import Timeline, watch_gpus

ROWS = 4
"""Lines that one drawing is high."""

LABEL = 13


def show_gpus(pid: int | None, seconds: float, *, log: Path | None, svg: Path | None, as_json: bool) -> ExitStatus:
    """Watch the GPUs and print what was found; NEGATIVE without a GPU, or when the named process is on none."""
    need_linux()
    try:
        timeline = watch_gpus(seconds, pid, log, progress=progress(lambda passed: f"looking at the GPUs, {passed:.0f} of {seconds:g} s"))
    finally:
        end_progress()
    readings = read_timeline(timeline)
    if svg is not None:
        write_svg(svg, svg_of(_charts(timeline), f"GPUs over {timeline.moments[-1].at:.0f} s"))
    if as_json:
        print_json({**timeline.to_json(), "readings": [one.to_json() for one in readings]})
    else:
        for index in timeline.devices:
            _draw_device(timeline, index)
        print_readings(readings)
    return ExitStatus.NEGATIVE if any(one.kind == "not on a GPU" for one in readings) else ExitStatus.OK


def _charts(timeline: Timeline) -> list[Chart]:
    charts = []
    for index in timeline.devices:
        device = timeline.last(index)
        charts.append(Chart(f"GPU {index} {device.name}: utilisation", "%", tuple(timeline.series(index, lambda one: one.utilization)), 100.0))
        charts.append(Chart(f"GPU {index} {device.name}: memory", "MiB", tuple(timeline.series(index, lambda one: one.used)), device.total or 1.0))
    return charts


def _draw_device(timeline: Timeline, index: int) -> None:
    device = timeline.last(index)
    heat = f" · {device.temperature:.0f} °C" if device.temperature is not None else ""
    power = f" · {device.power:.0f} W" if device.power is not None else ""
    print(styled(safe_line(f"GPU {index} {device.name}"), "bold") + heat + power)
    _draw("utilisation", "100 %", [number for _, number in timeline.series(index, lambda one: one.utilization)], 100.0)
    if device.total:
        _draw("memory", f"{device.total / 1024:.1f} GiB", [number for _, number in timeline.series(index, lambda one: one.used)], device.total)
    _print_scale(timeline)
    for pid, one in timeline.processes_on(device.uuid).items():
        memory = f"{one.used:.0f} MiB" if one.used is not None else "memory not told"
        cores = timeline.moments[-1].cpu.get(pid)
        print(f"  PID {pid} {safe_line(one.name)} · {memory}" + (f" · CPU {cores:.1f} cores" if cores is not None else ""))


def _draw(name: str, top_label: str, values: list[float], top: float) -> None:
    lines = draw(squeeze(values, _width()), top, ROWS)
    for row, line in enumerate(lines):
        label = {0: top_label, ROWS - 1: name}.get(row, "")
        print(f"{label:>{LABEL}} │{line}")


def _print_scale(timeline: Timeline) -> None:
    first, last = timeline.moments[0], timeline.moments[-1]
    steps = f"  (steps {first.step:g} to {last.step:g})" if first.step is not None and last.step is not None else ""
    print(styled(f"{'':>{LABEL}} └ 0 to {last.at:.0f} s{steps}", "dim"))


def _width() -> int:
    return max(shutil.get_terminal_size((100, 24)).columns - LABEL - 3, 20)

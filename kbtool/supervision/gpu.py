"""How busy the GPUs are: by NVML, else by nvidia-smi, else not at all. A failing driver is a missing value, never a failing job."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

SMI_QUERY = ("nvidia-smi", "--query-gpu=index,utilization.gpu,memory.used,memory.total", "--format=csv,noheader,nounits")
_SMI_PERIOD = 2.0


@dataclass(frozen=True)
class GpuSample:
    """One device at one moment: utilization in percent, memory in MiB."""

    index: int
    utilization: float
    memory_used: float
    memory_total: float


class Program(Protocol):
    """Runs a command with a deadline; None when it is missing or takes too long."""

    def __call__(self, command: tuple[str, ...], *, timeout: float) -> Any: ...


def open_gpus(run: Program) -> Callable[[], list[GpuSample]]:
    """A function that looks at all GPUs; it returns nothing on a machine without any."""
    try:
        return _open_nvml()
    except Exception:  # no package, no library, no driver: NVML raises its own kinds
        return _SmiReader(run) if shutil.which(SMI_QUERY[0]) else list


def _open_nvml() -> Callable[[], list[GpuSample]]:
    import pynvml  # type: ignore[import-not-found,import-untyped,unused-ignore]

    pynvml.nvmlInit()
    handles = [pynvml.nvmlDeviceGetHandleByIndex(index) for index in range(pynvml.nvmlDeviceGetCount())]

    def look() -> list[GpuSample]:
        found = []
        for index, handle in enumerate(handles):
            try:
                busy, memory = pynvml.nvmlDeviceGetUtilizationRates(handle), pynvml.nvmlDeviceGetMemoryInfo(handle)
            except pynvml.NVMLError:
                continue
            found.append(GpuSample(index, float(busy.gpu), int(memory.used) / 2**20, int(memory.total) / 2**20))
        return found

    return look


class _SmiReader:
    """Asks nvidia-smi now and then, and repeats the last answer in between."""

    def __init__(self, run: Program):
        self._run = run
        self._asked = -_SMI_PERIOD
        self._last: list[GpuSample] = []

    def __call__(self) -> list[GpuSample]:
        if time.monotonic() - self._asked >= _SMI_PERIOD:
            self._asked = time.monotonic()
            done = self._run(SMI_QUERY, timeout=5.0)
            self._last = parse_smi(done.stdout.decode("utf-8", "replace")) if done is not None and done.returncode == 0 else []
        return self._last


def parse_smi(text: str) -> list[GpuSample]:
    """Devices in the answer of nvidia-smi's CSV query; values that a device does not support count as zero."""
    found = []
    for line in text.splitlines():
        fields = [field.strip() for field in line.split(",")]
        if len(fields) == 4 and fields[0].isdigit():
            busy, used, total = (float(field) if field.replace(".", "", 1).isdigit() else 0.0 for field in fields[1:])
            found.append(GpuSample(int(fields[0]), busy, used, total))
    return found

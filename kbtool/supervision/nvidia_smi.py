"""What nvidia-smi says of the GPUs and of the processes on them, in its CSV format. Values that a device does not tell are None."""

from __future__ import annotations

import csv
import os
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass

from kbtool.errors import ExitStatus, KbError

PROGRAM = "nvidia-smi"
TIMEOUT = 10.0
"""Seconds for one question; without persistence mode the driver is loaded anew each time."""

DEVICE_FIELDS = ("index", "uuid", "name", "utilization.gpu", "memory.used", "memory.total")
MORE_FIELDS = ("temperature.gpu", "power.draw", "clocks_throttle_reasons.active")
"""Fields that old drivers may not know; one unknown field makes nvidia-smi refuse the whole question."""

PROCESS_FIELDS = ("gpu_uuid", "pid", "process_name", "used_gpu_memory")

THROTTLES = {
    0x08: "slowed down by the hardware (power supply or temperature)",
    0x20: "too hot (software limit)",
    0x40: "too hot (hardware limit)",
    0x80: "power brake: the supply asked for less",
}
"""Bits of clocks_throttle_reasons that cost speed, from NVML's documentation. Idle, a chosen clock and the power cap are no fault."""


@dataclass(frozen=True)
class Device:
    """One GPU at one moment. Utilisation in percent, memory in MiB, temperature in degrees Celsius, power in watts."""

    index: int
    uuid: str
    name: str
    utilization: float | None
    used: float | None
    total: float | None
    temperature: float | None = None
    power: float | None = None
    throttles: int = 0


@dataclass(frozen=True)
class GpuProcess:
    """One process on one GPU, memory in MiB."""

    uuid: str
    pid: int
    name: str
    used: float | None


class NvidiaSmi:
    """Asks nvidia-smi. Raises KbError with status NEGATIVE when there is no GPU that it knows."""

    def __init__(self) -> None:
        found = shutil.which(PROGRAM)
        if found is None:
            raise no_gpu("nvidia-smi is not on PATH")
        self._program = found
        self._fields: tuple[str, ...] = (*DEVICE_FIELDS, *MORE_FIELDS)
        self.devices()

    def devices(self) -> list[Device]:
        """All GPUs now."""
        done = self._ask("gpu", self._fields)
        if done.returncode != 0 and "not a valid field" in done.stdout + done.stderr and self._fields != DEVICE_FIELDS:
            self._fields = DEVICE_FIELDS
            done = self._ask("gpu", self._fields)
        if done.returncode != 0:
            raise no_gpu(f"nvidia-smi says: {' '.join((done.stdout + done.stderr).split())[:200] or f'exit {done.returncode}'}")
        found = parse_devices(done.stdout)
        if not found:
            raise no_gpu("nvidia-smi lists none")
        return found

    def processes(self) -> list[GpuProcess]:
        """All processes that compute on a GPU; empty where the driver does not tell."""
        done = self._ask("compute-apps", PROCESS_FIELDS)
        return parse_processes(done.stdout) if done.returncode == 0 else []

    def _ask(self, what: str, fields: Sequence[str]) -> subprocess.CompletedProcess[str]:
        command = [self._program, f"--query-{what}={','.join(fields)}", "--format=csv,noheader,nounits"]
        try:
            return subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=TIMEOUT, stdin=subprocess.DEVNULL)
        except subprocess.TimeoutExpired:
            raise no_gpu(f"nvidia-smi did not answer within {TIMEOUT:g} s: the driver hangs") from None


def no_gpu(why: str) -> KbError:
    """The error for a machine without a GPU that can be looked at."""
    other = "; an AMD GPU is here (/dev/kfd), which kb does not read: use rocm-smi" if os.path.exists("/dev/kfd") else ""
    return KbError(f"no GPU to look at: {why}{other}", hint="`kb env` shows what this machine has", status=ExitStatus.NEGATIVE)


def parse_devices(text: str) -> list[Device]:
    """GPUs in the answer to the question for devices, with or without the fields that old drivers lack."""
    found = []
    for fields in _rows(text):
        if len(fields) >= len(DEVICE_FIELDS) and fields[0].isdigit():
            more = [*fields[len(DEVICE_FIELDS) :], "", "", ""]
            busy, used, total = (_number(field) for field in fields[3:6])
            found.append(Device(int(fields[0]), fields[1], fields[2], busy, used, total, _number(more[0]), _number(more[1]), _bits(more[2])))
    return found


def parse_processes(text: str) -> list[GpuProcess]:
    """Processes in the answer to the question for compute processes."""
    return [GpuProcess(fields[0], int(fields[1]), fields[2], _number(fields[3])) for fields in _rows(text) if len(fields) == 4 and fields[1].isdigit()]


def _rows(text: str) -> list[list[str]]:
    return [[field.strip() for field in row] for row in csv.reader(text.splitlines())]


def _number(text: str) -> float | None:
    """A number; None for what a device does not tell (``[N/A]``, ``[Not Supported]``, ``[Insufficient Permissions]``)."""
    try:
        return float(text)
    except ValueError:
        return None


def _bits(text: str) -> int:
    try:
        return int(text, 16)
    except ValueError:
        return 0

"""How fast and in how much memory streams are read, beside programs that do less, in the same run.

    python benchmarks/streams.py [--mib 256] [--kinds steady,errors] [--no-drain3]

Every kind of stream is written to a file in memory once, so that all readers see the same bytes. Beside `kb`'s reader run `grep -c -F` and,
where it is installed, `rg -c -F` with the same words, `cat`, and drain3, which finds the shapes of log lines too (on the first 256 KiB: it is
slower by orders of magnitude). What counts is processor time (user and system), so that other work on the machine disturbs little; M/s are MiB a second of it.
"""

from __future__ import annotations

import argparse
import base64
import importlib.util
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

WORDS = (
    *("Traceback (", "rror", "xception", "ERROR", "FATAL", "atal", "ailed", "FAILED", "illed", "bort", "ssert", "signal", "imed out", "imeout"),
    *("WARN", "Warning", "annot ", "not found", "out of memory", "terminate called", "Segmentation", "panic", "错误", "失败", "不足"),
)
"""kb's words as they are spelled in logs."""

READER = """
import sys
from kbtool.matching.stream import read_stream
tee = sys.stdout.buffer.write if "--tee" in sys.argv else None
reading = read_stream(sys.stdin.buffer, tee=tee)
found = [places for places in ("first", "middle", "last") if any("here it is, " + places in line.text for line in reading.lines)]
peak = next((line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM")), "0")
print(",".join(found), int(peak) >> 10, file=sys.stderr)
"""
DRAIN = """
import sys, time
from drain3 import TemplateMiner
miner = TemplateMiner()
lines = sys.stdin.buffer.read(256 << 10).decode("utf-8", "replace").split("\\n")
begun = time.process_time()
for line in lines:
    miner.add_log_message(line)
print(time.process_time() - begun, file=sys.stderr)
"""
FAILURE = '\nTraceback (most recent call last):\n  File "train.py", line 3, in <module>\n    step()\n{}Error: here it is, {}\n'
FAILURES = {"first": "Runtime", "middle": "Import", "last": "Memory"}
BLOCK = 8 << 20


class Spent(NamedTuple):
    """Processor seconds of a program, and what it wrote to its standard error."""

    seconds: float
    said: str


def kinds() -> dict[str, Callable[[int, random.Random], bytes]]:
    """One line, or a part of one, of each kind of stream."""
    prose = "the loss of this run is lower than what we saw before with a larger batch and the same learning rate on all of the data".split()

    def text(chance: random.Random, words: int) -> str:
        return " ".join(chance.choices(prose, k=words))

    def error(i: int, chance: random.Random) -> bytes:
        return f"11:{i % 60:02d} ERROR [worker-{i % 16}] {chance.choice(['Value', 'Key', 'Connection', 'OS'])}Error: {text(chance, 8)} {chance.randbytes(8).hex()}\n".encode()

    return {
        "steady": lambda i, chance: b"step %7d/2000000 | loss %.4f | %dk tok/s\n" % (i, chance.random(), chance.randint(40, 60)),
        "ranks": lambda i, chance: b"[rank%d]: 2026-11-30T04:11:%02d.%06dZ INFO trainer.py:40 %s step=%d %.5f\n" % (chance.randrange(8), i % 60, i % 10**6, chance.choice([b"forward", b"saved"]), i, chance.random()),
        "warnings": lambda i, chance: b"step %d | loss %.4f\n" % (i, chance.random()) if i % 4 else b"WARNING: failed to fetch sample %d, error: timed out after %.2f s\n" % (i, chance.random()),
        "bars": lambda i, chance: f"\rEpoch 3: {i % 100:3d}%|{'█' * (i % 10):10s}| {i}/70000 [{chance.random() * 10:.2f}it/s]".encode() + b"\n" * (i % 1000 == 999),
        "errors": error,
        "hashes": lambda i, chance: b"error %s failed\n" % chance.randbytes(16).hex().encode(),
        "prose": lambda i, chance: f"{text(chance, 16)}\n".encode(),
        "json": lambda i, chance: json.dumps({"id": i, "level": "INFO", "text": text(chance, 12), "hash": chance.randbytes(6).hex()}).encode() + b"\n",
        "base64": lambda i, chance: base64.b64encode(chance.randbytes(57)) + b"\n",
        "one line": lambda i, chance: b"loss %.4f " % chance.random(),
        "one json": lambda i, chance: json.dumps({"id": i, "error": None, "text": text(chance, 12)}).encode() + b", ",
    }


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mib", type=int, default=256)
    parser.add_argument("--kinds", default="")
    parser.add_argument("--no-drain3", action="store_true")
    asked = parser.parse_args()
    searches = [[tool, "-c", "-F", *[part for word in WORDS for part in ("-e", word)]] for tool in ("grep", "rg") if shutil.which(tool)]
    print("; ".join([f"{tool} is not installed" for tool in ("grep", "rg") if not shutil.which(tool)] + ["drain3 is not installed"] * (not _has_drain3())))
    print(f"{'':10}{'kb':>9}{'peak':>9}{'--tee':>9}" + "".join(f"{search[0]:>9}{'kb/' + search[0]:>9}" for search in searches) + f"{'cat':>9}{'drain3':>9}   found")
    for kind, line in kinds().items():
        if asked.kinds and kind not in asked.kinds.split(","):
            continue
        with tempfile.NamedTemporaryFile(dir="/dev/shm" if os.path.isdir("/dev/shm") else None) as file:
            _write(file.name, line, asked.mib << 20)
            row = _measured(Path(file.name), searches, drain=not asked.no_drain3 and _has_drain3())
        print(f"{kind:10}{row}", flush=True)


def _has_drain3() -> bool:
    return importlib.util.find_spec("drain3") is not None


def _write(name: str, line: Callable[[int, random.Random], bytes], size: int) -> None:
    """The stream with a failure in its first, middle and last KiB; eight MiB of lines are repeated, which is more than any reader remembers."""
    chance = random.Random(1)
    parts: list[bytes] = []
    made = 0
    while made < min(BLOCK, size // 4):
        parts.append(line(len(parts), chance))
        made += len(parts[-1])
    block = b"".join(parts)
    half = [block] * (size // 2 // len(block))
    first, middle, last = (FAILURE.format(kind, place).encode() for place, kind in FAILURES.items())
    with open(name, "wb") as file:
        file.writelines([block[:500], first, *half, middle, *half, last, block[:500]])


def _measured(path: Path, searches: Iterable[list[str]], *, drain: bool) -> str:
    mib = path.stat().st_size / (1 << 20)
    kb = _spent([sys.executable, "-c", READER], path)
    tee = _spent([sys.executable, "-c", READER, "--tee"], path)
    found, peak = kb.said.split()
    row = f"{mib / kb.seconds:5.0f}MB/s{peak:>6}MiB{mib / tee.seconds:5.0f}MB/s".replace("MB/s", " M/s")
    for search in searches:
        seconds = _spent(search, path).seconds
        row += f"{mib / seconds:5.0f} M/s{seconds / kb.seconds:9.2f}"
    row += f"{mib / _spent(['cat'], path).seconds:5.0f} M/s"
    row += f"{0.25 / float(_spent([sys.executable, '-c', DRAIN], path).said.split()[-1]):5.2f} M/s" if drain else f"{'':9}"
    return f"{row}   {found}"


def _spent(command: list[str], path: Path) -> Spent:
    """What a program spends on the file, given to it through a pipe; what it writes goes into a pipe too (to /dev/null grep would not read on)."""
    with (
        subprocess.Popen(["cat", str(path)], stdout=subprocess.PIPE) as feeder,
        subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) as drain,
    ):
        done = subprocess.Popen(command, stdin=feeder.stdout, stdout=drain.stdin, stderr=subprocess.PIPE)
        assert feeder.stdout and drain.stdin and done.stderr
        feeder.stdout.close()
        drain.stdin.close()
        said = done.stderr.read().decode()
        _, _, usage = os.wait4(done.pid, 0)
        done.returncode = 0
    return Spent(usage.ru_utime + usage.ru_stime, said)


if __name__ == "__main__":
    main()

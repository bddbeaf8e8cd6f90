"""How fast and in how much memory a stream is read, beside `grep -c -F` with the same literals in the same run.

    python benchmarks/streams.py [--mib 512]

Kinds of stream: a training log's steady beat, ever different error lines, one endless line. Each is written to a file once, so that both
readers see the same bytes from the page cache.
"""

from __future__ import annotations

import argparse
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from kbtool.matching.stream import ALARMS

READER = (
    "import sys\n"
    "from kbtool.matching.stream import read_stream\n"
    "reading = read_stream(sys.stdin.buffer)\n"
    "found = any('here it is' in line.text for line in reading.lines)\n"
    "print(found, next((line.split()[1] for line in open('/proc/self/status') if line.startswith('VmHWM')), 0))\n"
)
FAILURE = b"\nTraceback (most recent call last):\nValueError: here it is\n"


def beat(chance: random.Random) -> Iterator[bytes]:
    """A healthy log."""
    while True:
        yield b"".join(b"step %7d/2000000 | loss %.4f | %dk tok/s\n" % (i, chance.random(), chance.randint(40, 60)) for i in range(20_000))


def errors(chance: random.Random) -> Iterator[bytes]:
    """Alarming lines, all different."""
    while True:
        yield b"".join(b"error %s failed\n" % chance.randbytes(16).hex().encode() for _ in range(20_000))


def endless(chance: random.Random) -> Iterator[bytes]:
    """No newline at all."""
    while True:
        yield b" ".join(b"loss %.4f" % chance.random() for _ in range(80_000))


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mib", type=int, default=512)
    size = parser.parse_args().mib << 20
    for kind in (beat, errors, endless):
        with tempfile.NamedTemporaryFile() as file:
            blocks = kind(random.Random(1))
            while file.tell() < size:
                file.write(next(blocks))
                if 0 <= file.tell() - size // 2 < 1 << 20 and kind is not endless:
                    file.write(FAILURE)
            file.write(FAILURE)
            file.flush()
            mib = file.tell() / (1 << 20)
            kb, answer = _timed([sys.executable, "-c", READER], file.name)
            grep, _ = _timed(["grep", "-c", "-F", *[part for alarm in ALARMS for part in ("-e", alarm.decode())]], file.name)
            found, peak = answer.split()
            print(f"{kind.__name__:8} kb {mib / kb:6.0f} MiB/s, peak {int(peak) >> 10} MiB, found {found}; grep {mib / grep:6.0f} MiB/s; kb has {grep / kb:.2f} of grep's throughput")


def _timed(command: list[str], name: str) -> tuple[float, str]:
    with Path(name).open("rb") as stdin:
        begun = time.perf_counter()
        done = subprocess.run(command, stdin=stdin, capture_output=True, text=True, check=False)
        return time.perf_counter() - begun, done.stdout


if __name__ == "__main__":
    main()

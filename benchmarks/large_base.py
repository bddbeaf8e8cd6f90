"""How long review, tree and stats take on a base of 10,000 entries with a journal of 1,000,000 rows.

    python benchmarks/large_base.py [--entries 10000] [--rows 1000000] [--keep DIR]

Builds base and journal in a temporary folder (or DIR, which is used again), runs each command three times and prints the best wall time.
"""

from __future__ import annotations

import argparse
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

COMMANDS = (("review", "--json"), ("review", "--report"), ("tree",), ("tree", "--format", "svg"), ("stats",))
DOMAINS = ("data", "model", "training", "serving", "logging", "distributed", "environment", "hang")
WORDS = tuple(f"{a}{b}" for a in ("tensor", "batch", "loader", "cache", "stream", "kernel", "graph", "shard", "token", "queue", "socket", "driver") for b in ("size", "lock", "count", "path", "state", "limit", "index", "shape", "order", "rate"))

ENTRY = """\
---
tags: [{tag}]
confirms: exit zero
status: active
created: 2026-0{month}-01
---

# {title}

## Symptom

```text
{symptom}
```

## Root cause

{cause}

## Verify

```sh
test -e /nowhere/{number}
```

## Fix

Mend the {tag}.

## Outcomes

| When | Outcome | Check | Exit | Time | Environment | Note |
| --- | --- | --- | --- | --- | --- | --- |
| 2026-0{month}-02 10:00Z | confirmed | 00000000 | 0 | 3 ms | linux · py3.11 · torch 2.9.0+cpu · no GPU | |
"""


def build_base(root: Path, count: int) -> None:
    """Write `count` entries over the eight domains."""
    draw = random.Random(1)
    for domain in DOMAINS:
        (root / domain).mkdir(parents=True)
        (root / domain / "README.md").write_text(f"---\nkeywords: [{domain}]\n---\n\n# {domain}\n\n## First action\n\nLook.\n", encoding="utf-8")
    for number in range(count):
        words = draw.sample(WORDS, 6)
        text = ENTRY.format(
            tag=words[0],
            month=draw.randint(1, 9),
            title=f"The {words[0]} meets the {words[1]} ({number})",
            symptom=f"RuntimeError: {words[0]} {words[1]} failed with {words[2]} in {words[3]}_{number}",
            cause=f"The {words[0]} does not follow the {words[4]}. It grows until {words[5]} is full.",
            number=number,
        )
        (root / draw.choice(DOMAINS) / f"fault-{number}.md").write_text(text, encoding="utf-8")


def build_journal(entries: int, rows: int) -> None:
    """Fill the journal's tables: one half matches (a fifth of them misses), one half verdicts."""
    from kbtool.journal.journal import open_journal

    with open_journal() as journal:
        journal.connection.execute("pragma synchronous = off")
        journal.connection.execute("begin")
        journal.connection.executemany("insert into matches values (" + ", ".join("?" * 15) + ")", _matches(entries, rows // 2))
        journal.connection.executemany("insert into verdicts values (" + ", ".join("?" * 13) + ")", _verdicts(entries, rows // 2))
        journal.connection.execute("commit")


def _when(draw: random.Random) -> str:
    return f"2026-{draw.randint(1, 11):02d}-{draw.randint(1, 28):02d}T{draw.randint(0, 23):02d}:00:00Z"


def _matches(entries: int, count: int) -> Iterator[tuple[object, ...]]:
    draw = random.Random(2)
    for number in range(1, count + 1):
        missed = draw.random() < 0.2
        first = None if missed else f"fault-{int(draw.random() ** 2 * entries)}"
        shape = f"ValueError: {draw.choice(WORDS)} {draw.choice(WORDS)} # is wrong" if missed else None
        yield (number, _when(draw), "b", "-", "RuntimeError", "message", "load", f"RuntimeError: line {number}\n" * 3, "data", int(not missed), first, 0.9, "strong", 0.1, shape)


def _verdicts(entries: int, count: int) -> Iterator[tuple[object, ...]]:
    draw = random.Random(3)
    for number in range(1, count + 1):
        entry = f"fault-{int(draw.random() ** 2 * entries)}"
        verdict = draw.choices(("confirmed", "refuted", "inconclusive"), (6, 3, 1))[0]
        yield (number, _when(draw), "b", entry, "00000000", verdict, "", 0, 0.01, "linux", "", 1, number)


def main() -> None:
    """Build what is missing, run, print."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--entries", type=int, default=10_000)
    options.add_argument("--rows", type=int, default=1_000_000)
    options.add_argument("--keep", type=Path, help="folder to build in, used again if it is there")
    given = options.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        world = given.keep or Path(temporary)
        for name in ("CACHE", "STATE", "DATA"):
            os.environ[f"XDG_{name}_HOME"] = str(world / name.lower())
        base = world / "entries"
        if not base.is_dir():
            build_base(base, given.entries)
            build_journal(given.entries, given.rows)
        run = [sys.executable, "-m", "kbtool", "--entries", str(base)]
        began = time.perf_counter()
        subprocess.run([*run, "match"], input=b"x", stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        print(f"first match (builds the index if it is not there): {time.perf_counter() - began:.2f} s")
        for command in COMMANDS:
            times = []
            for _ in range(3):
                began = time.perf_counter()
                done = subprocess.run([*run, *command], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
                times.append(time.perf_counter() - began)
                if done.returncode > 1:
                    sys.exit(done.stderr.decode())
            print(f"kb {' '.join(command)}: {min(times):.2f} s")


if __name__ == "__main__":
    main()

"""How matching scales: query time, cold start, refresh and build, against what the same machine does in the same run.

    python benchmarks/scale.py [--sizes 100,1000,10000] [--svg docs/matching-scale.svg]

Entries are made from the shipped ones by exchanging words, so that their length and their words' frequencies stay real. Prints times and
ratios: the cold `kb match` against `python -c "import typer, sqlite3, rapidfuzz.fuzz"` in pairs, the full build against
`sqlite-utils insert` and `enable-fts` of the same rows.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from kbtool.knowledge.layers import Base
from kbtool.matching.answer import answer_text
from kbtool.matching.index import Index, index_path, open_index
from kbtool.settings import shipped_entries

ROOT = Path(__file__).resolve().parent.parent
REFERENCE = "import typer, sqlite3, rapidfuzz.fuzz"
WORD = re.compile(r"[A-Za-z]{5,}")
EXCHANGED = 0.35
"""Share of the longer words of an entry that are exchanged."""


def make_base(root: Path, size: int) -> None:
    """Write `size` entries, the shipped ones first."""
    chance = random.Random(size)
    real = sorted(path for path in shipped_entries().glob("*/*.md") if path.name != "README.md")
    texts = [(path.parent.name, path.stem, path.read_text(encoding="utf-8")) for path in real]
    vocabulary = sorted({word for _, _, text in texts for word in WORD.findall(text)})
    for number in range(size):
        domain, name, text = texts[number % len(texts)]
        if number >= len(texts):
            name, text = f"{name[:60]}-{number}", _varied(text, chance, vocabulary)
        folder = root / domain
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{name}.md").write_text(text, encoding="utf-8")


def _varied(text: str, chance: random.Random, vocabulary: list[str]) -> str:
    front, _, body = text.partition("\n---\n")
    heads = re.compile(r"^(#.*|```.*)$", re.MULTILINE)

    def exchange(found: re.Match[str]) -> str:
        if chance.random() > EXCHANGED:
            return found.group()
        return chance.choice(vocabulary) if chance.random() < 0.5 else found.group() + chance.choice("xyzqw") + str(chance.randrange(999))

    kept = heads.sub(lambda found: "\0" + found.group() + "\0", body)
    parts = kept.split("\0")
    return front + "\n---\n" + "".join(part if at % 2 and not part.startswith("# ") else WORD.sub(exchange, part) for at, part in enumerate(parts))


def tracebacks() -> list[str]:
    """The examples' outputs: real ones."""
    return [path.read_text(encoding="utf-8", errors="replace")[:6000] for path in sorted((ROOT / "examples").glob("*.txt"))]


def query_median(index: Index) -> float:
    """Milliseconds of processor time a question takes, in process, the median over the examples."""
    times = []
    for _ in range(3):
        for text in tracebacks():
            begun = time.process_time()
            answer_text(text, index)
            times.append(1000 * (time.process_time() - begun))
    return statistics.median(times)


def paired(one: Callable[[], object], other: Callable[[], object], rounds: int = 9) -> tuple[float, float]:
    """Medians of two things done in turns, in milliseconds."""
    times: tuple[list[float], list[float]] = ([], [])
    for _ in range(rounds):
        for do, kept in zip((one, other), times, strict=True):
            begun = time.perf_counter()
            do()
            kept.append(1000 * (time.perf_counter() - begun))
    return statistics.median(times[0]), statistics.median(times[1])


def cold(base: Path) -> tuple[float, float]:
    """A cold `kb match` and the reference import, in turns."""
    text = tracebacks()[0].encode()
    command = [sys.executable, "-m", "kbtool", "--entries", str(base), "match", "--json"]
    return paired(
        lambda: subprocess.run(command, input=text, stdout=subprocess.DEVNULL, check=False, cwd=ROOT),
        lambda: subprocess.run([sys.executable, "-c", REFERENCE], check=True),
    )


def build_ratio(base: Path, folder: Path) -> tuple[float, float]:
    """Seconds of a full build, and of sqlite-utils for the same rows with full-text search."""
    kb_base = Base(base, "chosen", True)
    index_path(kb_base).unlink(missing_ok=True)
    begun = time.perf_counter()
    index = open_index([kb_base])
    built = time.perf_counter() - begun
    rows = index.layers[0].connection.execute("SELECT id, title, root_cause, fix, profile, terms FROM entry JOIN entry_fts ON entry_fts.rowid = entry.number").fetchall()
    index.close()
    names = ("id", "title", "root_cause", "fix", "profile", "terms")
    (folder / "rows.json").write_text(json.dumps([dict(zip(names, row, strict=True)) for row in rows]))
    tool = str(Path(sys.executable).with_name("sqlite-utils"))
    begun = time.perf_counter()
    subprocess.run([tool, "insert", str(folder / "peer.db"), "rows", str(folder / "rows.json"), "--pk", "id"], check=True)
    subprocess.run([tool, "enable-fts", str(folder / "peer.db"), "rows", "terms", "--fts5"], check=True)
    return built, time.perf_counter() - begun


def edit_seen(base: Path) -> float:
    """Milliseconds that opening takes more after one file was changed by hand."""
    kb_base = Base(base, "chosen", True)
    open_index([kb_base]).close()
    fresh, changed = [], []
    path = next(path for path in sorted(base.glob("*/*.md")) if path.name != "README.md")
    for _ in range(3):
        begun = time.perf_counter()
        open_index([kb_base]).close()
        fresh.append(time.perf_counter() - begun)
        path.write_text(path.read_text(encoding="utf-8") + "\n", encoding="utf-8")
        begun = time.perf_counter()
        open_index([kb_base]).close()
        changed.append(time.perf_counter() - begun)
    return 1000 * (statistics.median(changed) - statistics.median(fresh))


def picture(points: list[tuple[int, float]]) -> str:
    """The growth curve as SVG, both axes logarithmic."""
    import math

    width, height, left, bottom = 640, 360, 70, 50
    low, high = math.log10(points[0][0]), math.log10(max(points[-1][0], points[0][0] * 10))
    top = max(1.0, math.ceil(math.log10(max(value for _, value in points)) + 0.05))

    def place(size: int, value: float) -> tuple[float, float]:
        across = left + (math.log10(size) - low) / (high - low) * (width - left - 20)
        return across, height - bottom - max(0.0, math.log10(value)) / top * (height - bottom - 20)

    line = " ".join(f"{x:.1f},{y:.1f}" for x, y in (place(*point) for point in points))
    dots = "".join(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4"/><text x="{x:.1f}" y="{y - 10:.1f}" text-anchor="middle">{value:.1f} ms</text>' for (x, y), (_, value) in ((place(*p), p) for p in points))
    ticks = "".join(f'<text x="{place(size, 1)[0]:.1f}" y="{height - bottom + 20}" text-anchor="middle">{size:,}</text>' for size, _ in points)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="12">'
        f'<rect width="{width}" height="{height}" fill="white"/><polyline points="{line}" fill="none" stroke="#2a6fb0" stroke-width="2"/>'
        f'<g fill="#2a6fb0">{dots}</g><g fill="#444">{ticks}<text x="{width / 2}" y="{height - 8}" text-anchor="middle">entries in the base</text>'
        f'<text x="16" y="{height / 2}" text-anchor="middle" transform="rotate(-90 16 {height / 2})">median of one question, in process</text></g></svg>\n'
    )


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", default="100,1000,10000")
    parser.add_argument("--svg", type=Path)
    parser.add_argument("--no-build", action="store_true", help="leave the comparison of full builds out")
    arguments = parser.parse_args()
    points = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        os.environ.update(XDG_CACHE_HOME=str(folder / "cache"), XDG_STATE_HOME=str(folder / "state"), XDG_DATA_HOME=str(folder / "data"))
        for size in map(int, arguments.sizes.split(",")):
            base = folder / str(size) / "entries"
            make_base(base, size)
            begun = time.perf_counter()
            index = open_index([Base(base, "chosen", True)])
            built = time.perf_counter() - begun
            points.append((size, query_median(index)))
            print(f"{index.size} entries: built in {built:.1f} s, median question {points[-1][1]:.1f} ms, a change by hand is seen in {edit_seen(base):.0f} ms more", flush=True)
            if size == 1000:
                match, reference = cold(base)
                print(f"  cold kb match {match:.0f} ms, `{REFERENCE}` {reference:.0f} ms, ratio {match / reference:.2f}", flush=True)
            if size == 10000 and not arguments.no_build:
                built, peer = build_ratio(base, folder)
                print(f"  full build {built:.1f} s, sqlite-utils insert and enable-fts {peer:.1f} s, ratio {built / peer:.1f}", flush=True)
    if arguments.svg:
        arguments.svg.write_text(picture(points), encoding="utf-8")


if __name__ == "__main__":
    main()

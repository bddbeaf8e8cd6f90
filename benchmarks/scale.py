"""How matching scales: time of a question, cold start, refresh and build, against what other ways of asking need in the same run.

    python benchmarks/scale.py [--sizes 100,1000,10000,100000] [--cases DIR] [--keep DIR] [--svg docs/matching-scale.svg]

Entries are made from the shipped ones by exchanging words, so that their length and their words' frequencies stay real. Every question is
asked once. All times are processor time (user and system), so that other work on the machine disturbs little. Peers, over the same rows:
plain FTS5 with bm25 and rapidfuzz over all symptoms (in process), `sqlite-utils search` and kb-manager's `kb grep` (as programs).
"""

from __future__ import annotations

import argparse
import os
import random
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path

import scale_peers as peers
from scale_curve import picture
from scale_peers import child_ms, children_ms, processor_ms

from kbtool.knowledge.layers import Base
from kbtool.matching.answer import answer_text
from kbtool.matching.index import index_path, open_index
from kbtool.matching.report import report_text
from kbtool.settings import shipped_entries

ROOT = Path(__file__).resolve().parent.parent
REFERENCE = "import typer, sqlite3, rapidfuzz.fuzz"
WORD = re.compile(r"[A-Za-z]{5,}")
MOST_FOR_PEERS = 10_000
"""Entries up to which the peers are asked too."""
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


def questions(cases: Path | None) -> list[str]:
    """Real outputs: those of the labelled cases, or the examples."""
    if cases is None:
        return [path.read_text(encoding="utf-8", errors="replace")[:6000] for path in sorted((ROOT / "examples").glob("*.txt"))]
    import yaml

    held = [yaml.safe_load(path.read_text(encoding="utf-8")) for path in sorted(cases.glob("*.yaml"))]
    texts = [case["text"] for cause in held if isinstance(cause, dict) for case in cause["cases"]]
    random.Random(1).shuffle(texts)
    return texts[:120]


def message(text: str) -> str:
    """The first line of the failure's own message: what a person would search by."""
    failure = report_text(text).failure
    return (failure.message.splitlines() or [""])[0][:80] if failure else text[:80]


def cold_ms(base: Path, text: str) -> float:
    """Milliseconds of processor time of a `kb match` as a program."""
    return child_ms([sys.executable, "-m", "kbtool", "--entries", str(base), "match", "--json"], text.encode(), PYTHONPATH=str(ROOT))


def cold_ratio(base: Path, text: str) -> float:
    """A cold `kb match` over the imports it can not do without, in turns; the median of the ratios."""
    return statistics.median(cold_ms(base, text) / child_ms([sys.executable, "-c", REFERENCE]) for _ in range(9))


def edit_seen(base: Path) -> float:
    """Milliseconds that opening takes more after one file was changed by hand."""
    bases = [Base(base, "chosen", True)]
    path = next(path for path in sorted(base.glob("*/*.md")) if path.name != "README.md")
    more = []
    for _ in range(3):
        fresh = processor_ms(lambda: open_index(bases).close())
        path.write_text(path.read_text(encoding="utf-8") + "\n", encoding="utf-8")
        more.append(processor_ms(lambda: open_index(bases).close()) - fresh)
    return statistics.median(more)


def after_learning(base: Path, texts: list[str]) -> tuple[float, float]:
    """Milliseconds of a cold match before, and of the first one after each of three `kb learn`."""
    ids = [path.stem for path in sorted(base.glob("*/*.md")) if path.name != "README.md"]
    before, after = [], []
    for entry_id, text in zip(ids, texts[:3], strict=False):
        before.append(cold_ms(base, texts[0]))
        command = [sys.executable, "-m", "kbtool", "--entries", str(base), "learn", entry_id]
        subprocess.run(command, input=text.encode(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False, cwd=ROOT)
        after.append(cold_ms(base, texts[0]))
    return statistics.median(before), statistics.median(after)


def build(base: Path, folder: Path, sqlite_utils: str) -> None:
    """Print what a full build takes, its workers included, and sqlite-utils for the same rows with full-text search."""
    bases = [Base(base, "chosen", True)]
    index_path(bases[0]).unlink(missing_ok=True)
    begun, before = time.perf_counter(), children_ms()
    spent = processor_ms(lambda: open_index(bases).close()) / 1000
    wall, workers = time.perf_counter() - begun, (children_ms() - before) / 1000
    peer, peer_wall = peers.insert_and_index(sqlite_utils, peers.rows(base), folder)
    print(f"  full build {wall:.1f} s ({spent + workers:.1f} s of processor time, {workers:.1f} of it in workers), sqlite-utils insert and enable-fts {peer_wall:.1f} s ({peer:.1f} s): {wall / peer_wall:.1f} ({(spent + workers) / peer:.1f}) times", flush=True)


def ask(base: Path, size: int, folder: Path, texts: list[str], sqlite_utils: str | None, kb_manager: str | None) -> dict[str, float]:
    """Medians of a question in milliseconds, by the way of asking."""
    index = open_index([Base(base, "chosen", True)])
    answer_text(texts[0], index)
    found = {"kb, in process": statistics.median([processor_ms(lambda text=text: answer_text(text, index)) for text in texts[1:]])}
    index.close()
    few = texts[1:6]
    held = peers.rows(base)
    for name, way, asked in (("FTS5 bm25, in process", peers.bm25(held), texts[1:30]), ("rapidfuzz, in process", peers.fuzzy(base), few)):
        if size <= MOST_FOR_PEERS:
            found[name] = statistics.median([processor_ms(lambda way=way, text=text: way(text)) for text in asked])
    found["kb match"] = statistics.median([cold_ms(base, text) for text in few])
    if sqlite_utils and size <= MOST_FOR_PEERS:
        peers.insert_and_index(sqlite_utils, held, folder)
        search = peers.sqlite_utils_search(sqlite_utils, folder)
        found["sqlite-utils search"] = statistics.median([search(message(text)) for text in few])
    if kb_manager and size <= MOST_FOR_PEERS:
        grep = peers.kb_manager_grep(kb_manager, base, folder / f"kb-manager-{size}")
        found["kb-manager's kb grep"] = statistics.median([grep(message(text)) for text in few])
    return found


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", default="100,1000,10000")
    parser.add_argument("--cases", type=Path, help="labelled cases whose outputs are asked instead of the examples")
    parser.add_argument("--keep", type=Path, help="folder for bases and index, used again if it is there")
    parser.add_argument("--svg", type=Path)
    parser.add_argument("--no-build", action="store_true", help="leave the comparison of full builds out")
    arguments = parser.parse_args()
    texts = questions(arguments.cases)
    lines: defaultdict[str, list[tuple[int, float]]] = defaultdict(list)
    with tempfile.TemporaryDirectory() as temporary:
        folder = arguments.keep or Path(temporary)
        os.environ.update(XDG_CACHE_HOME=str(folder / "cache"), XDG_STATE_HOME=str(folder / "state"), XDG_DATA_HOME=str(folder / "data"))
        sqlite_utils = peers.installed("sqlite-utils", "sqlite-utils", folder / "sqlite-utils")
        kb_manager = peers.installed("kb-manager", "kb", folder / "kb-manager")
        for name, program in (("sqlite-utils", sqlite_utils), ("kb-manager", kb_manager)):
            if program is None:
                print(f"{name} can not be installed here: left out")
        for size in map(int, arguments.sizes.split(",")):
            base = folder / str(size) / "entries"
            if not base.is_dir():
                make_base(base, size)
            for way, value in ask(base, size, folder, texts, sqlite_utils, kb_manager).items():
                lines[way].append((size, value))
            print(f"{size} entries: " + ", ".join(f"{way} {points[-1][1]:.1f} ms" for way, points in lines.items() if points[-1][0] == size), flush=True)
            print(f"  a file changed by hand is seen for {edit_seen(base):.0f} ms more", flush=True)
            if size == 1000:
                print(f"  a cold kb match takes {cold_ratio(base, texts[0]):.2f} times `{REFERENCE}`", flush=True)
            if size == MOST_FOR_PEERS:
                print("  a cold match takes {:.0f} ms, the first one after `kb learn` {:.0f} ms".format(*after_learning(base, texts)), flush=True)
                if sqlite_utils and not arguments.no_build:
                    build(base, folder, sqlite_utils)
    if arguments.svg:
        arguments.svg.write_text(picture({way: sorted(points) for way, points in lines.items()}, frozenset({"kb match", "sqlite-utils search", "kb-manager's kb grep"})), encoding="utf-8")


if __name__ == "__main__":
    main()

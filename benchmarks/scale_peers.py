"""What other programs and plain methods need for the same rows and the same questions: the peers of `scale.py`."""

from __future__ import annotations

import json
import os
import re
import resource
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from kbtool.knowledge.layers import Base
from kbtool.matching.index import index_path
from kbtool.matching.profile import from_json
from kbtool.matching.tokens import tokens

COLUMNS = ("id", "domain", "path", "title", "status", "root_cause", "verify", "fix", "outcomes", "applies_to", "profile")


def processor_ms(do: Callable[[], object]) -> float:
    """Milliseconds of processor time that a call takes in this process."""
    begun = time.process_time()
    do()
    return 1000 * (time.process_time() - begun)


def children_ms() -> float:
    """Milliseconds of processor time (user and system) of all programs that this one started and waited for."""
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    return 1000 * (spent.ru_utime + spent.ru_stime)


def child_ms(command: Sequence[str], given: bytes = b"", **environment: str) -> float:
    """Milliseconds of processor time (user and system) of a program."""
    before = children_ms()
    subprocess.run(command, input=given, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env={**os.environ, **environment}, check=False)
    return children_ms() - before


def rows(base: Path) -> list[dict[str, str]]:
    """The rows of a base's index, with every entry's tokens as one text."""
    connection = sqlite3.connect(index_path(Base(base, "chosen", True)))
    found = [dict(zip(COLUMNS, row, strict=True)) for row in connection.execute(f"SELECT {', '.join(COLUMNS)} FROM entry")]
    connection.close()
    return [{**row, "terms": " ".join(sorted(from_json(row["profile"]).all_tokens()))} for row in found]


def insert_and_index(program: str, held: list[dict[str, str]], folder: Path) -> tuple[float, float]:
    """Seconds of processor time and of wall time that `sqlite-utils insert` and `enable-fts` take for the rows; they lie in `folder`/peer.db."""
    (folder / "rows.json").write_text(json.dumps(held))
    (folder / "peer.db").unlink(missing_ok=True)
    begun = time.perf_counter()
    spent = child_ms([program, "insert", str(folder / "peer.db"), "rows", str(folder / "rows.json"), "--pk", "id"])
    spent += child_ms([program, "enable-fts", str(folder / "peer.db"), "rows", "terms", "--fts5"])
    return spent / 1000, time.perf_counter() - begun


def quoted(text: str) -> str:
    """All tokens of a text as an FTS5 query."""
    return " OR ".join('"' + token.replace('"', '""') + '"' for line in text.splitlines() for token in dict.fromkeys(tokens(line)))


def bm25(held: list[dict[str, str]]) -> Callable[[str], object]:
    """Plain full-text search: the whole text as a query, ordered by bm25, in this process."""
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE VIRTUAL TABLE t USING fts5 (terms)")
    connection.executemany("INSERT INTO t VALUES (?)", [(row["terms"],) for row in held])
    return lambda text: connection.execute("SELECT rowid FROM t WHERE t MATCH ? ORDER BY rank LIMIT 5", (quoted(text),)).fetchall()


def fuzzy(base: Path) -> Callable[[str], object]:
    """rapidfuzz's token_set_ratio of the text with every entry's first symptom, in this process."""
    from rapidfuzz import fuzz, process

    fence = re.compile(r"^```text\n(.*?)^```", re.DOTALL | re.MULTILINE)
    symptoms = [found[1] for path in base.glob("*/*.md") if (found := fence.search(path.read_text(encoding="utf-8")))]
    return lambda text: process.extract(text, symptoms, scorer=fuzz.token_set_ratio, limit=5)


def sqlite_utils_search(program: str, folder: Path) -> Callable[[str], float]:
    """`sqlite-utils search` over the rows that `insert_and_index` left, as a program: milliseconds of processor time for a message."""
    return lambda message: child_ms([program, "search", str(folder / "peer.db"), "rows", quoted(message), "--limit", "5", "-c", "id"])


def installed(package: str, program: str, folder: Path) -> str | None:
    """A program of a package, in an environment of its own in `folder`, or None where it can not be installed."""
    path = folder / "bin" / program
    if not path.exists():
        try:
            subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True, capture_output=True)
            subprocess.run([str(folder / "bin" / "pip"), "install", "-q", package], check=True, capture_output=True, timeout=300)
        except (subprocess.SubprocessError, OSError):
            return None
    return str(path)


def kb_manager_grep(program: str, base: Path, home: Path) -> Callable[[str], float]:
    """`kb grep` of kb-manager over the same files, as a program: milliseconds of processor time for a message."""
    if not home.exists():
        files = [str(path) for path in base.glob("*/*.md") if path.name != "README.md"]
        home.mkdir(parents=True)
        for start in range(0, len(files), 500):
            child_ms([program, "add", "-c", "all", *files[start : start + 500]], HOME=str(home), XDG_DATA_HOME=str(home))
    return lambda message: child_ms([program, "grep", "-n", re.escape(message)], HOME=str(home), XDG_DATA_HOME=str(home))


"""The index of the bases in use: found fresh or made fresh, asked for candidates.

One SQLite file a base, in the cache folder, keyed by the base's real path. A seal beside it holds the file's own stamp: whoever touched it
broke the seal, and it is built anew. Where the cache can not be written, the index lives in memory.
"""

from __future__ import annotations

import json
import os
import sqlite3
from array import array
from collections.abc import Iterable, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from kbtool import settings
from kbtool.knowledge.layers import Base
from kbtool.knowledge.problems import ERROR, Problem
from kbtool.matching import schema
from kbtool.matching.confidence import Calibration, load_calibration
from kbtool.matching.idf import TokenFrequencies
from kbtool.matching.postings import unpacked
from kbtool.matching.rows import ENTRY_COLUMNS, Record, domain_of, record_of
from kbtool.matching.scan import Stamp, scan, stamp_of
from kbtool.model import Domain

if TYPE_CHECKING:
    from kbtool.matching.build import Progress

_COLUMNS = ", ".join(ENTRY_COLUMNS)
_PAGES = -16_000
"""KiB of an index that are kept in memory where many questions are asked; sqlite3 by itself keeps 2,000, less than what a large index is searched by."""


class Layer(NamedTuple):
    """One base and its opened index."""

    base: Base
    connection: sqlite3.Connection
    size: int


class Outline(NamedTuple):
    """What is known of an entry before its row is read as a whole: how many different tokens its parts have."""

    number: int
    id: str
    status: str
    title_tokens: int
    salient_tokens: int
    """In a wording, and in title, cause, fix or tags too."""
    symptom_tokens: int


_OUTLINE = ", ".join(Outline._fields)


class Index:
    """The indexes of all layers, top first; the same id in two layers counts in the upper one.

    `problems` kept files from being indexed; they hide no other.
    """

    def __init__(self, layers: list[Layer], problems: tuple[Problem, ...]):
        self.layers = layers
        self.problems = problems
        self._frequency: dict[str, int] = {}
        self._frequencies = TokenFrequencies(self.size, self._frequency)

    @property
    def size(self) -> int:
        """Entries in all layers."""
        return sum(layer.size for layer in self.layers)

    @property
    def roots(self) -> list[Path]:
        """The folders of the layers, top first."""
        return [layer.base.root for layer in self.layers]

    @cached_property
    def calibration(self) -> Calibration:
        """What ratings are worth in these layers, as it was when it was first asked for."""
        return load_calibration(self.roots)

    def frequencies(self, tokens: Iterable[str]) -> TokenFrequencies:
        """What the entries know of these tokens, and of those asked for earlier."""
        fresh = dict.fromkeys(set(tokens).difference(self._frequency), 0)
        wanted = list(fresh)
        for layer in self.layers:
            for token, count in _chosen(layer.connection, "token, entries", "term", "token", wanted):
                fresh[token] += count
        self._frequency.update(fresh)
        return self._frequencies

    def postings(self, layer: Layer, tokens: Sequence[str]) -> dict[str, array[int]]:
        """Token → its postings (module `postings`) in one layer, without those that stand in no entry."""
        rows = _chosen(layer.connection, "token, postings", "term", "token", tokens)
        return {token: unpacked(data) for token, data in rows}

    def outlines(self, layer: Layer, numbers: Sequence[int]) -> list[Outline]:
        """The outlines of entries of one layer, by their numbers."""
        return list(map(Outline._make, _chosen(layer.connection, _OUTLINE, "entry", "number", numbers)))

    def records(self, layer: Layer, numbers: Sequence[int]) -> dict[int, Record]:
        """Number → record of entries of one layer."""
        rows = _chosen(layer.connection, f"number, {_COLUMNS}", "entry", "number", numbers)
        return {row[0]: record_of(row[1:], layer.base.root) for row in rows}

    def hidden(self, place: int, ids: Sequence[str]) -> set[str]:
        """Those of the ids in the layer at `place` that a layer above has too."""
        return {row[0] for upper in self.layers[:place] for row in _chosen(upper.connection, "id", "entry", "id", ids)}

    def record(self, entry_id: str) -> Record | None:
        """The entry with that id, from the top layer that has it."""
        for layer in self.layers:
            row = layer.connection.execute(f"SELECT {_COLUMNS} FROM entry WHERE id = ?", (entry_id,)).fetchone()
            if row is not None:
                return record_of(row, layer.base.root)
        return None

    def cards(self) -> list[tuple[Layer, str, str]]:
        """Layer, file (relative to its base) and card (`knowledge.card`) of every entry, the top layer winning for an id."""
        found: dict[str, tuple[Layer, str, str]] = {}
        for layer in reversed(self.layers):
            rows = layer.connection.execute("SELECT id, path, card FROM card JOIN entry USING (number)")
            found.update((row[0], (layer, row[1], row[2])) for row in rows)
        return list(found.values())

    def ids(self) -> set[str]:
        """Every id that is taken, those of files that can not be read included."""
        known = {row[0] for layer in self.layers for row in layer.connection.execute("SELECT id FROM entry")}
        return known | {problem.path.stem for problem in self.problems}

    def domains(self) -> list[Domain]:
        """The domain pages of all layers, the top one winning for a name."""
        found: dict[str, Domain] = {}
        for layer in self.layers:
            rows = layer.connection.execute("SELECT name, path, keywords, first_action, minimal_check, go_back_when FROM domain")
            for row in rows:
                found.setdefault(row[0], domain_of(row, layer.base.root))
        return [found[name] for name in sorted(found)]

    def close(self) -> None:
        """Close the files."""
        for layer in self.layers:
            layer.connection.close()


def _chosen(connection: sqlite3.Connection, columns: str, table: str, key: str, values: Sequence[object]) -> Iterable[tuple[Any, ...]]:
    """The rows of a table with one of these values; a statement with a mark for each would have to be compiled anew for every number of them."""
    return connection.execute(f"SELECT {columns} FROM (SELECT value AS wanted FROM json_each(?)) CROSS JOIN {table} ON {key} = wanted", (json.dumps(values),))


def open_index(bases: Sequence[Base], *, progress: Progress | None = None) -> Index:
    """The fresh index of `bases`, top first; never raises for what the cache folder or a base holds."""
    layers, problems = [], []
    for base in bases:
        layer, found = _open_layer(base, progress)
        layers.append(layer)
        problems += found
    return Index(layers, tuple(problems))


def refresh(bases: Sequence[Base]) -> None:
    """Bring the index up to date after a change, so that the next match finds it fresh."""
    open_index(bases).close()


def index_path(base: Base) -> Path:
    """Where the index of a base lies."""
    return settings.cache_folder() / "index" / f"{settings.place_key(base.root)}.sqlite"


def _open_layer(base: Base, progress: Progress | None) -> tuple[Layer, list[Problem]]:
    path = index_path(base)
    now = scan(base.root)
    try:
        return _opened(base, path, now)
    except (sqlite3.Error, OSError, ValueError, TypeError, KeyError, IndexError, AttributeError):
        pass
    from kbtool.matching import renewal

    try:
        renewal.rebuild(base, path, now, progress)
        return _opened(base, path, now)
    except (sqlite3.Error, OSError, ValueError, TypeError, KeyError, IndexError):
        return _layer(base, renewal.in_memory(base, now, progress))


def _opened(base: Base, path: Path, now: dict[str, Stamp]) -> tuple[Layer, list[Problem]]:
    """Open the index, updated if need be; raises where it can not be trusted."""
    if not _sealed(path):
        raise ValueError("the seal is broken")
    connection = _connect(path)
    try:
        stored = _checked(connection, base.root)
        if stored != now:
            from kbtool.matching import renewal

            connection.close()
            renewal.bring_up_to_date(base, path, stored, now)
            connection = _connect(path)
            if _checked(connection, base.root) != now:
                raise ValueError("the update did not take")
        return _layer(base, connection)
    except BaseException:
        connection.close()
        raise


def _connect(path: Path) -> sqlite3.Connection:
    from urllib.parse import quote

    # nobody changes an index in place: without locks it can be read from a read-only or network cache too
    connection = sqlite3.connect(f"file:{quote(str(path))}?mode=ro&immutable=1", uri=True)
    connection.execute(f"PRAGMA cache_size={_PAGES}")
    return connection


def _checked(connection: sqlite3.Connection, root: Path) -> dict[str, Stamp]:
    meta = dict(connection.execute("SELECT key, value FROM meta"))
    if meta.get("version") != schema.VERSION or meta.get("root") != os.path.realpath(root):
        raise ValueError("another version or another base")
    return {row[0]: Stamp(*row[1:]) for row in connection.execute("SELECT path, size, mtime_ns, ctime_ns, inode FROM file")}


def _layer(base: Base, connection: sqlite3.Connection) -> tuple[Layer, list[Problem]]:
    size = connection.execute("SELECT count(*) FROM entry").fetchone()[0]
    problems = [
        Problem(base.root / path, line, ERROR, message)
        for path, found in connection.execute("SELECT path, problems FROM file WHERE problems <> '[]'")
        for line, message in json.loads(found)
    ]
    return Layer(base, connection, size), problems


def seal_path(path: Path) -> Path:
    """Where the seal of an index lies."""
    return path.with_suffix(".seal")


def _sealed(path: Path) -> bool:
    with open(seal_path(path), "rb") as file:
        return bool(json.loads(file.read(4096)) == stamp_of(os.stat(path))._asdict())

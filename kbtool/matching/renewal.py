"""An index made anew, or brought up to date where few files changed; a match on a fresh one does without all of this.

The new file is made beside the old one and renamed over it, then sealed: whoever reads meanwhile keeps what was opened.
"""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
import tempfile
from collections.abc import Iterator
from pathlib import Path

from kbtool.knowledge.layers import Base
from kbtool.matching.build import Progress, fill, fill_file, read_files, update
from kbtool.matching.index import seal_path
from kbtool.matching.scan import Stamp, stamp_of

UPDATE_SHARE = 0.5
"""Share of changed files from which on a full build is cheaper than an update."""


def bring_up_to_date(base: Base, path: Path, stored: dict[str, Stamp], now: dict[str, Stamp]) -> None:
    """Change the rows of the files that differ; raises ValueError where so much did that a full build is cheaper."""
    gone = set(stored) - set(now)
    changed = {relative: stamp for relative, stamp in now.items() if stored.get(relative) != stamp}
    if len(gone) + len(changed) > 20 + UPDATE_SHARE * len(now):
        raise ValueError("nearly everything changed")
    with _aside(path) as new:
        update(path, new, base.root, gone, changed)


def rebuild(base: Base, path: Path, now: dict[str, Stamp], progress: Progress | None) -> None:
    """Make the index anew from every file of the base."""
    os.makedirs(path.parent, mode=0o700, exist_ok=True)
    with _aside(path) as new:
        fill_file(new, read_files(base.root, now, progress), base.root)


@contextlib.contextmanager
def _aside(path: Path) -> Iterator[Path]:
    """A file beside `path` that takes its place, sealed, when the block succeeds."""
    descriptor, name = tempfile.mkstemp(prefix=".new-", suffix=".sqlite", dir=path.parent)
    os.close(descriptor)
    new = Path(name)
    try:
        yield new
        if path.is_dir():
            import shutil

            shutil.rmtree(path)
        os.replace(new, path)
        _seal(path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(new)
        raise


def _seal(path: Path) -> None:
    stamp = stamp_of(os.stat(path))
    descriptor, name = tempfile.mkstemp(prefix=".new-", suffix=".seal", dir=path.parent)
    with os.fdopen(descriptor, "w") as file:
        json.dump(stamp._asdict(), file)
    os.replace(name, seal_path(path))


def in_memory(base: Base, now: dict[str, Stamp], progress: Progress | None) -> sqlite3.Connection:
    """The index of a base where the cache folder can not be written."""
    connection = sqlite3.connect(":memory:")
    fill(connection, read_files(base.root, now, progress), base.root)
    return connection

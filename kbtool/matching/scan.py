"""Which files a base holds now: one scandir a folder, and a stamp of each file that no edit can leave unchanged."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

from kbtool.knowledge.layers import DOMAIN_PAGE, domain_folders, is_entry_name


class Stamp(NamedTuple):
    """Size, times and inode; ctime can not be set by a program, so that an edit with the old size and mtime shows too."""

    size: int
    mtime_ns: int
    ctime_ns: int
    inode: int


def stamp_of(status: os.stat_result) -> Stamp:
    """The stamp in a stat result."""
    return Stamp(status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino)


def scan(root: Path) -> dict[str, Stamp]:
    """Entry files and domain pages by their path below `root`, with `/` on every platform."""
    found: dict[str, Stamp] = {}
    for domain in domain_folders(root):
        try:
            with os.scandir(root / domain) as items:
                for item in items:
                    if (is_entry_name(item.name) or item.name == DOMAIN_PAGE) and item.is_file(follow_symlinks=False):
                        found[f"{domain}/{item.name}"] = stamp_of(item.stat(follow_symlinks=False))
        except OSError:
            continue
    return found

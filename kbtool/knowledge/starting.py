"""Starting a base: the domain pages, copied from the shipped ones, and what git has to know about entries."""

from __future__ import annotations

import subprocess
from pathlib import Path

from kbtool import settings
from kbtool.durable import write_atomically
from kbtool.errors import KbError
from kbtool.knowledge.layers import DOMAIN_PAGE, domain_folders

ATTRIBUTES = "# outcomes of two branches are united; everything else is merged as text\n*/*.md merge=kb-entry\n*/README.md merge=text\n"

DRIVER = {
    "merge.kb-entry.name": "kb: unites the outcome rows of both sides",
    "merge.kb-entry.driver": "kb merge-driver %O %A %B %P",
}
"""What git's configuration must hold for the attribute to mean anything; it is local to a clone, so every clone installs it."""


def start_base(root: Path) -> list[Path]:
    """Make `root` a base; returns the files that were written. Existing files are never touched.

    Raises KbError when `root` is a file or can not be written.
    """
    try:
        root.mkdir(parents=True, exist_ok=True)
        pages = [page for domain in domain_folders(settings.shipped_entries()) if (page := _domain_page(root, domain))]
        attributes = _write_new(root / ".gitattributes", ATTRIBUTES.encode("ascii"))
    except FileExistsError:
        raise KbError(f"{root}: is a file", hint="name a folder: `kb init DIR`") from None
    except OSError as error:
        raise KbError(f"{error.filename or root}: can not be written: {error.strerror}") from None
    install_merge_driver(root)
    return [path for path in (*pages, attributes) if path is not None]


def _domain_page(root: Path, domain: str) -> Path | None:
    source = settings.shipped_entries() / domain / DOMAIN_PAGE
    if not source.is_file():
        return None
    (root / domain).mkdir(exist_ok=True)
    return _write_new(root / domain / DOMAIN_PAGE, source.read_bytes())


def _write_new(path: Path, data: bytes) -> Path | None:
    if path.exists():
        return None
    write_atomically(path, data)
    return path


def install_merge_driver(root: Path) -> bool:
    """Tell the git repository around `root` how outcomes are merged; False where there is no repository or no git."""
    return all(_git(root, "config", name, value) is not None for name, value in DRIVER.items())


def has_merge_driver(root: Path) -> bool | None:
    """Whether the repository around `root` knows the driver; None where there is no repository or no git."""
    if _git(root, "rev-parse", "--git-dir") is None:
        return None
    return _git(root, "config", "merge.kb-entry.driver") == DRIVER["merge.kb-entry.driver"]


def _git(root: Path, *arguments: str) -> str | None:
    try:
        done = subprocess.run(["git", "-C", str(root), *arguments], capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=20)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None

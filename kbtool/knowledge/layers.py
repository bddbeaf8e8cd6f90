"""Which bases of entries are in use, top first, and which files they hold.

`--entries` or `$KB_ENTRIES` names the only base. Else: the nearest `entries/` upward that holds a domain page, the user's own, the
shipped one. The same id in two layers: the top one wins. Symbolic links inside a base are not followed, so that a clone can not make
kb read or change a file elsewhere.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

from kbtool import settings
from kbtool.errors import KbError

DOMAIN_PAGE = "README.md"


class Base(NamedTuple):
    """A folder of entries; `kind` is chosen, project, user or shipped."""

    root: Path
    kind: str
    writable: bool


class EntryFile(NamedTuple):
    """A file that should hold an entry, and the domain its folder stands for."""

    domain: str
    path: Path

    @property
    def id(self) -> str:
        """The entry's id: the file's name."""
        return self.path.stem


def find_layers(start: Path | None = None) -> list[Base]:
    """The bases in use, top first, seen from folder `start` (default: the working directory).

    Raises KbError when the chosen base is no folder or can not be read.
    """
    chosen = settings.chosen_entries()
    if chosen is not None:
        return [_chosen(chosen)]
    layers: list[Base] = []
    project = project_entries(start or Path.cwd())
    if project is not None:
        layers.append(Base(project, "project", _is_writable(project)))
    user = settings.user_entries()
    if user.is_dir():
        layers.append(Base(user, "user", _is_writable(user)))
    shipped = settings.shipped_entries()
    if shipped.is_dir() and not any(_same(shipped, base.root) for base in layers):
        layers.append(Base(shipped, "shipped", writable=False))
    return layers


def _chosen(root: Path) -> Base:
    try:
        os.scandir(root).close()
    except FileNotFoundError:
        raise KbError(f"{root}: no such folder of entries", hint=f"`kb init {root}` makes one") from None
    except NotADirectoryError:
        raise KbError(f"{root}: is a file; a base is a folder of domain folders", hint="name the folder that holds the domain folders") from None
    except OSError as error:
        raise KbError(f"{root}: can not be read: {error.strerror}", hint="check the folder's permissions") from None
    return Base(root, "chosen", _is_writable(root))


def _is_writable(root: Path) -> bool:
    return os.access(root, os.W_OK)


def _same(one: Path, other: Path) -> bool:
    return os.path.realpath(one) == os.path.realpath(other)


def project_entries(start: Path) -> Path | None:
    """The nearest `entries/` in `start` or above it that holds a domain page, or None."""
    for folder in (start, *start.parents):
        candidate = folder / "entries"
        if is_base(candidate):
            return candidate
    return None


def is_base(root: Path) -> bool:
    """True when a folder below `root` holds a domain page."""
    return any((root / domain / DOMAIN_PAGE).is_file() for domain in domain_folders(root))


def domain_folders(root: Path) -> list[str]:
    """Names of the domain folders of a base, sorted; empty when it can not be read."""
    try:
        with os.scandir(root) as found:
            return sorted(item.name for item in found if item.is_dir(follow_symlinks=False) and not item.name.startswith((".", "_")))
    except OSError:
        return []


def entry_files(base: Base) -> list[EntryFile]:
    """The files of a base that should hold entries, in order of domain and name; nothing is opened."""
    return [EntryFile(domain, base.root / domain / name) for domain in domain_folders(base.root) for name in _entry_names(base.root / domain)]


def _entry_names(folder: Path) -> list[str]:
    try:
        with os.scandir(folder) as found:
            return sorted(item.name for item in found if is_entry_name(item.name) and item.is_file(follow_symlinks=False))
    except OSError:
        return []


def is_entry_name(name: str) -> bool:
    """True for ``*.md`` that is neither a page nor hidden (temporary files of kb are hidden)."""
    return name.endswith(".md") and name.lower() != DOMAIN_PAGE.lower() and not name.startswith(".")


def all_entry_files(bases: list[Base]) -> dict[str, EntryFile]:
    """Every entry file by id, the top layer winning."""
    found: dict[str, EntryFile] = {}
    for base in reversed(bases):
        found.update((file.id, file) for file in entry_files(base))
    return dict(sorted(found.items()))


def locate(entry_id: str, bases: list[Base] | None = None) -> tuple[Base, EntryFile]:
    """Where the entry `entry_id` lives.

    Raises KbError, naming the nearest ids, when no layer has it.
    """
    bases = find_layers() if bases is None else bases
    for base in bases:
        for domain in domain_folders(base.root):
            path = base.root / domain / f"{entry_id}.md"
            if is_entry_name(path.name) and path.is_file() and not path.is_symlink():
                return base, EntryFile(domain, path)
    raise unknown_id(entry_id, list(all_entry_files(bases)))


def unknown_id(entry_id: str, known: list[str]) -> KbError:
    """The error for an id that no layer has, with the nearest ids."""
    import difflib

    near = difflib.get_close_matches(entry_id, known, n=3, cutoff=0.5)
    hint = "did you mean " + " or ".join(f"`{name}`" for name in near) + "?" if near else "`kb list` shows every id"
    return KbError(f"no entry has the id `{entry_id}`", hint=hint)


def writable_layer(bases: list[Base] | None = None) -> Base:
    """The top base that can be written; the user's own is offered where there is none (it may not exist yet).

    Raises KbError when one base was chosen and it is read-only.
    """
    bases = find_layers() if bases is None else bases
    for base in bases:
        if base.writable:
            return base
    if settings.chosen_entries() is not None:
        raise KbError(f"{bases[0].root}: the base is read-only", hint="name a writable one with `kb --entries DIR …`")
    return Base(settings.user_entries(), "user", writable=True)

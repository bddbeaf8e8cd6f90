"""What the index keeps of one file, whatever the other files hold: so that files can be read in any order and by several processes."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

from kbtool.matching.postings import token_parts
from kbtool.matching.rows import card_row, domain_row, entry_row


class Extract(NamedTuple):
    """One file: its problems, or the row of a domain page, or the parts of an entry; plain values, which a pipe can carry."""

    problems: list[list[Any]] = []
    """Line and message."""
    domain: dict[str, Any] | None = None
    entry: dict[str, Any] | None = None
    """The row of the entry, without its number."""
    card: str = ""
    parts: dict[str, int] = {}
    """Every token by which the entry can be found, with the parts that hold it (module `postings`)."""


def extract(root: Path, relative: str) -> Extract:
    """Read one file of the base at `root`; a broken one gives its problems."""
    from kbtool.knowledge.domains import parse_domain
    from kbtool.knowledge.entry import parse_entry
    from kbtool.knowledge.problems import ERROR, EntryError

    path = root / relative
    domain, _, name = relative.partition("/")
    try:
        data = path.read_bytes()
        if name == "README.md":
            return Extract(domain=domain_row(parse_domain(data, path=path), relative))
        entry = parse_entry(data, path=path, domain=domain)
    except EntryError as error:
        return Extract([[problem.line, problem.message] for problem in error.problems if problem.level == ERROR])
    except OSError as error:
        return Extract([[1, f"can not be read: {error.strerror}"]])
    row, profile = entry_row(entry, relative)
    return Extract(entry=row, card=card_row(entry, profile), parts=token_parts(profile, entry.id))

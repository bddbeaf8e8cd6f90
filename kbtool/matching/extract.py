"""What the index keeps of some files, whatever the other files hold: so that files can be read in any order and by several processes."""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from kbtool.knowledge.layers import DOMAIN_PAGE
from kbtool.matching.postings import SHIFT, token_parts
from kbtool.matching.profile import encode, make_profiles, symptom_tokens
from kbtool.matching.rows import card_row, domain_row, entry_row
from kbtool.model import Entry

Numbered = tuple[int, str]
"""The number that an entry has in the index, and its file, relative to the base."""


class Part(NamedTuple):
    """The rows that some files become: plain values, which a pipe can carry, in the order of `rows.COLUMNS`."""

    problems: list[str]
    """What is wrong with each of the files, as JSON: line and message."""
    entries: list[tuple[Any, ...]]
    cards: list[tuple[Any, ...]]
    domains: list[tuple[Any, ...]]
    postings: dict[str, bytes]
    """Token → postings (module `postings`), as this machine keeps an array of them."""


def read_part(root: Path, numbered: Sequence[Numbered]) -> Part:
    """Read some files of the base at `root`; a broken one gives its problems, and hides no other.

    Each step is taken for all files before the next one: what a processor has at hand of one step's code and tables serves them all, which
    saves a fifth of the time.
    """
    part = Part([], [], [], [], {})
    paths = [root / relative for _, relative in numbered]
    given = [_bytes(path) for path in paths]
    read = [_parsed(data, path, relative, part) for data, path, (_, relative) in zip(given, paths, numbered, strict=True)]
    found = [(number, relative, entry) for (number, relative), entry in zip(numbered, read, strict=True) if entry is not None]
    profiles = make_profiles([entry for _, _, entry in found])
    symptoms = [symptom_tokens(profile) for profile in profiles]
    for (number, relative, entry), profile, symptom in zip(found, profiles, symptoms, strict=True):
        part.entries.append(entry_row(entry, number, relative, profile, symptom))
    for (number, _, entry), symptom in zip(found, symptoms, strict=True):
        part.cards.append(card_row(entry, number, symptom))
    postings: defaultdict[str, list[int]] = defaultdict(list)
    for (number, _, entry), profile, symptom in zip(found, profiles, symptoms, strict=True):
        for token, parts in token_parts(profile, symptom, entry.id).items():
            postings[token].append(number << SHIFT | parts)
    part.postings.update((token, array("I", values).tobytes()) for token, values in postings.items())
    return part


def _bytes(path: Path) -> bytes | OSError:
    from kbtool.knowledge.entry import read_bytes

    try:
        return read_bytes(path)
    except OSError as error:
        return error


def _parsed(data: bytes | OSError, path: Path, relative: str, part: Part) -> Entry | None:
    """The entry in a file's bytes; a domain page, and what is wrong, is added to `part` at once."""
    from kbtool.knowledge.domains import parse_domain
    from kbtool.knowledge.entry import parse_entry
    from kbtool.knowledge.problems import ERROR, EntryError

    domain, _, name = relative.partition("/")
    problems: list[tuple[int, str]] = []
    entry = None
    try:
        if isinstance(data, OSError):
            problems = [(1, f"can not be read: {data.strerror}")]
        elif name == DOMAIN_PAGE:
            part.domains.append(domain_row(parse_domain(data, path=path), relative))
        else:
            entry = parse_entry(data, path=path, domain=domain)
    except EntryError as error:
        problems = [(problem.line, problem.message) for problem in error.problems if problem.level == ERROR]
    part.problems.append(encode(problems) if problems else "[]")
    return entry

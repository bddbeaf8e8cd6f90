"""What the index keeps of some files, whatever the other files hold: so that files can be read in any order and by several processes."""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from kbtool.matching.postings import SHIFT, token_parts
from kbtool.matching.profile import encode, make_profile, symptom_tokens
from kbtool.matching.rows import card_row, domain_row, entry_row

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


def read_part(root: Path, numbered: Iterable[Numbered]) -> Part:
    """Read some files of the base at `root`; a broken one gives its problems, and hides no other."""
    postings: defaultdict[str, list[int]] = defaultdict(list)
    part = Part([], [], [], [], {})
    for number, relative in numbered:
        problems = _read(root, number, relative, part, postings)
        part.problems.append(encode(problems) if problems else "[]")
    part.postings.update((token, array("I", values).tobytes()) for token, values in postings.items())
    return part


def _read(root: Path, number: int, relative: str, part: Part, postings: defaultdict[str, list[int]]) -> list[tuple[int, str]]:
    """Add what one file becomes; gives its problems."""
    from kbtool.knowledge.domains import parse_domain
    from kbtool.knowledge.entry import parse_entry
    from kbtool.knowledge.problems import ERROR, EntryError

    path = root / relative
    domain, _, name = relative.partition("/")
    try:
        data = path.read_bytes()
        if name == "README.md":
            part.domains.append(domain_row(parse_domain(data, path=path), relative))
            return []
        entry = parse_entry(data, path=path, domain=domain)
    except EntryError as error:
        return [(problem.line, problem.message) for problem in error.problems if problem.level == ERROR]
    except OSError as error:
        return [(1, f"can not be read: {error.strerror}")]
    profile = make_profile(entry)
    symptom = symptom_tokens(profile)
    part.entries.append(entry_row(entry, number, relative, profile, symptom))
    part.cards.append(card_row(entry, number, symptom))
    for token, parts in token_parts(profile, symptom, entry.id).items():
        postings[token].append(number << SHIFT | parts)
    return []

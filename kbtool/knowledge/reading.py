"""Reading whole bases: every entry that can be read, and an error for each that can not."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from kbtool.knowledge.entry import read_entry
from kbtool.knowledge.layers import Base, all_entry_files
from kbtool.knowledge.problems import ERROR, EntryError, Problem
from kbtool.model import Entry


@dataclass(frozen=True)
class Library:
    """The entries of the layers in use, the top layer winning for an id, and what kept others from being read."""

    entries: tuple[Entry, ...]
    problems: tuple[Problem, ...]


def read_library(bases: Iterable[Base]) -> Library:
    """Every entry of `bases`, in order of domain and id."""
    entries: list[Entry] = []
    problems: list[Problem] = []
    for file in all_entry_files(list(bases)).values():
        try:
            entries.append(read_entry(file.path, file.domain))
        except EntryError as error:
            problems += error.problems
        except OSError as error:
            problems.append(Problem(file.path, 1, ERROR, f"can not be read: {error.strerror}"))
    return Library(tuple(sorted(entries, key=lambda entry: (entry.domain, entry.id))), tuple(problems))

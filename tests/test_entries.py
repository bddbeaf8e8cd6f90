"""The shipped entries as a whole: valid, short, complete, and listed in docs/entries.md as they are."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from kbtool.knowledge.lint import lint_file
from kbtool.model import Entry, Status
from tests import write_entries_table

ENTRIES = write_entries_table.shipped()


@pytest.fixture
def library(tmp_path: Path) -> Path:
    """A copy of the shipped entries whose index lies in a home of its own."""
    return Path(shutil.copytree(write_entries_table.ROOT / "entries", tmp_path / "entries"))


def test_the_base_is_large_enough() -> None:
    """At least 45 entries ship, and each of the eight domains has some."""
    assert len(ENTRIES) >= 45
    assert {entry.domain for entry in ENTRIES} == {"data", "model", "training", "serving", "logging", "distributed", "environment", "hang"}


@pytest.mark.parametrize("entry", ENTRIES, ids=[entry.id for entry in ENTRIES])
def test_entry_is_fit_to_ship(entry: Entry) -> None:
    """A shipped entry passes lint without a warning, can be judged without a person, names its family, and is short."""
    assert [str(problem) for problem in lint_file(entry.path)] == []
    assert entry.check is not None and entry.check.confirms
    assert entry.family
    assert entry.fix
    assert len(entry.root_cause.split()) + len(entry.fix.split()) <= 170
    assert entry.outcomes == ()


SEARCHES = ("--include=", ".rglob(", "glob.glob(", "find . ", 'find "${DATA', 'find "${MODEL', "for file in *")
"""How a check searches the job's files."""

OWN_FOLDERS = ("file-lock-held-by-another-process",)
"""Checks that look into a folder of the machine too, where no file means no fault."""


@pytest.mark.parametrize("entry", ENTRIES, ids=[entry.id for entry in ENTRIES])
def test_a_search_needs_something_to_look_at(entry: Entry) -> None:
    """A check that searches files says so in `needs`: in a folder without any such file it must not refute."""
    assert entry.check is not None
    searches = entry.check.language == "sh" and any(sign in entry.check.command for sign in SEARCHES)
    if searches and entry.id not in OWN_FOLDERS:
        assert any(need.startswith("file:") for need in entry.check.needs)


@pytest.mark.parametrize("entry", ENTRIES, ids=[entry.id for entry in ENTRIES])
def test_only_a_proven_entry_is_active(entry: Entry) -> None:
    """What no reproduction has met may ship as a draft only."""
    if entry.status is Status.ACTIVE:
        assert "met" in write_entries_table.evidence(entry)


def test_every_wording_finds_its_entry(library: Path) -> None:
    """Each symptom fence, given as an input, is answered with its own entry first."""
    from kbtool.knowledge.layers import Base
    from kbtool.matching.answer import answer_text
    from kbtool.matching.index import open_index

    index = open_index([Base(library, "given", False)])
    missed = []
    for entry in ENTRIES:
        for text in entry.symptoms:
            found = next(iter(answer_text(text, index).matches), None)
            if found is None or found.id != entry.id:
                missed.append((entry.id, text, found and found.id))
    assert missed == []


def test_the_table_of_entries_is_up_to_date() -> None:
    """docs/entries.md says what the entries say; `python tests/write_entries_table.py` writes it anew."""
    assert write_entries_table.PAGE.read_text(encoding="utf-8") == write_entries_table.page(), "run: python tests/write_entries_table.py"

"""The journal: what it remembers, how it is opened, and what it never does."""

from __future__ import annotations

import os
import sqlite3
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from kbtool.journal import journal as module
from kbtool.journal.journal import journal_path, open_journal
from kbtool.journal.records import Keeping, RunSummary, VerdictRecord
from kbtool.model import Answer, Confidence, Failure, Match, Phase, Verdict


def an_answer(*ids: str, excerpt: str = "RuntimeError: boom") -> Answer:
    matches = tuple(Match(i, i, "data", 0.9, Confidence.STRONG, "cause", "true", None, "fix", f"{i}.md") for i in ids)
    return Answer(Failure("RuntimeError", "boom", Phase.LOAD, None, 1, excerpt), matches)


def a_verdict(entry: str) -> VerdictRecord:
    return VerdictRecord(entry, "00000000", Verdict.CONFIRMED, "exit 0", 0, 0.1, "linux", "output", Keeping.ENTRY)


def test_last_match_belongs_to_base_and_terminal() -> None:
    """The last match is the newest of the same base and terminal, with its entries in order."""
    with open_journal() as journal:
        journal.remember_match(an_answer("one"), base="b", terminal="t1")
        journal.remember_match(an_answer("two", "three"), base="b", terminal="t1")
        journal.remember_match(an_answer("four"), base="b", terminal="t2")

    with open_journal() as journal:
        last = journal.last_match(base="b", terminal="t1")

        assert last is not None
        assert last.entries == ("two", "three")
        assert journal.last_match(base="other", terminal="t1") is None


def test_a_miss_is_a_row_without_entries() -> None:
    """A text that nothing explains is remembered with `answered` 0, for the monthly review."""
    with open_journal() as journal:
        journal.remember_match(an_answer(), base="b", terminal="t")

    rows = sqlite3.connect(journal_path()).execute("select answered, first, excerpt from matches").fetchall()
    assert rows == [(0, None, "RuntimeError: boom")]


def test_the_file_is_private() -> None:
    """Only its owner may read the journal."""
    with open_journal() as journal:
        journal.remember_run(RunSummary("python train.py", "/runs/1", 0, None, 1.0))

    assert stat.S_IMODE(os.stat(journal_path()).st_mode) == 0o600


def test_switched_off_nothing_is_written(monkeypatch: pytest.MonkeyPatch) -> None:
    """With KB_JOURNAL=off the journal works for this process and leaves no file."""
    monkeypatch.setenv("KB_JOURNAL", "off")
    with open_journal() as journal:
        assert journal.remember_match(an_answer("one"), base="b", terminal="t") == 1

    assert not journal_path().exists()


def test_a_foreign_file_costs_the_memory_not_the_command() -> None:
    """A journal file that is no database is left as it is, and everything still works."""
    journal_path().parent.mkdir(parents=True)
    journal_path().write_bytes(b"not a database" * 100)

    with open_journal() as journal:
        assert journal.remember_verdict(a_verdict("one"), base="b") == 1
    assert journal_path().read_bytes() == b"not a database" * 100


def test_a_state_folder_that_is_a_file(own_world: Path) -> None:
    """Where the state folder can not be made, the journal lives in memory."""
    (own_world / "state" / "kb").write_text("in the way")

    with open_journal() as journal:
        assert journal.remember_verdict(a_verdict("one"), base="b") == 1


def test_texts_are_capped() -> None:
    """A huge excerpt keeps its beginning and its end, within the limit."""
    with open_journal() as journal:
        journal.remember_match(an_answer("one", excerpt="first " + "x" * 10**6 + " last"), base="b", terminal="t")
        kept = journal.last_match(base="b", terminal="t")

    assert kept is not None
    assert len(kept.excerpt) <= module.EXCERPT_LIMIT + 2
    assert kept.excerpt.startswith("first") and kept.excerpt.endswith("last")


def test_old_rows_go(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each table keeps its newest rows only."""
    monkeypatch.setattr(module, "ROWS_KEPT", 10)
    monkeypatch.setattr(module, "PRUNE_EVERY", 5)
    with open_journal() as journal:
        for number in range(30):
            journal.remember_match(an_answer(f"entry-{number}"), base="b", terminal="t")
        kept = journal.connection.execute("select min(id), count(*) from matches").fetchone()
        orphans = journal.connection.execute("select count(*) from candidates where match_id not in (select id from matches)").fetchone()

    assert kept == (21, 10)
    assert orphans == (0,)


def test_many_writers_at_once() -> None:
    """Writers of several threads wait for each other; no row is lost."""

    def write(number: int) -> None:
        with open_journal() as journal:
            for _ in range(10):
                assert journal.remember_verdict(a_verdict(f"entry-{number}"), base="b") is not None

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(write, range(8)))

    assert sqlite3.connect(journal_path()).execute("select count(*) from verdicts").fetchone() == (80,)


def test_a_newer_journal_is_left_alone() -> None:
    """A file of a later version is not migrated back."""
    with open_journal():
        pass
    connection = sqlite3.connect(journal_path())
    connection.execute("pragma user_version = 99")
    connection.close()

    with open_journal() as journal:
        assert journal.connection.execute("pragma user_version").fetchone() == (99,)

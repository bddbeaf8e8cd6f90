"""The journal's history: what it tells by month, what was missed, who the rivals are, and an older journal's migration."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from kbtool.journal import history
from kbtool.journal.journal import journal_path, now, open_journal
from kbtool.journal.records import Keeping, VerdictRecord
from kbtool.journal.schema import MIGRATIONS
from kbtool.journal.shapes import shape_of
from kbtool.model import Answer, Confidence, Failure, Match, Phase, Verdict


def an_answer(*ids: str, message: str = "boom") -> Answer:
    matches = tuple(Match(i, i, "data", 0.9, Confidence.STRONG, "cause", "true", None, "fix", f"{i}.md") for i in ids)
    return Answer(Failure("RuntimeError", message, Phase.LOAD, None, 1, f"RuntimeError: {message}"), matches)


def a_verdict(entry: str, verdict: Verdict) -> VerdictRecord:
    return VerdictRecord(entry, "00000000", verdict, "", 0, 0.1, "linux", "", Keeping.ENTRY)


def test_months_count_answers_and_verdicts() -> None:
    """Each first answer and each verdict counts for its entry in its month."""
    with open_journal() as journal:
        for _ in range(3):
            journal.remember_match(an_answer("one", "two"), base="b", terminal="t")
        journal.remember_verdict(a_verdict("two", Verdict.CONFIRMED), base="b")
        journal.remember_verdict(a_verdict("one", Verdict.REFUTED), base="b")

        found = history.by_month(journal)

    month = now()[:7]
    assert found == {"one": {month: history.Month(3, 0, 1, 0)}, "two": {month: history.Month(0, 1, 0, 0)}}


def test_likes_that_found_no_answer_are_counted_together() -> None:
    """Misses that differ in numbers, names and paths only are one group, with the newest as its example."""
    with open_journal() as journal:
        for number in range(4):
            journal.remember_match(an_answer(message=f"worker {number} lost 'file{number}' in /tmp/{number}"), base="b", terminal="t")
        journal.remember_match(an_answer(message="something else"), base="b", terminal="t")
        journal.remember_match(an_answer("one", message="worker 9 lost 'file9' in /tmp/9"), base="b", terminal="t")

        groups = history.missed(journal, "2000-01-01", least=2, limit=10)

    assert [(group.count, group.shape) for group in groups] == [(4, "RuntimeError: worker # lost '…' in /…")]
    assert groups[0].excerpt.endswith("/tmp/3")


def test_rivals_are_who_was_right_instead() -> None:
    """An entry's rival is one that was confirmed for a match in which the entry was refuted."""
    with open_journal() as journal:
        for right in ("two", "two", "three"):
            match_id = journal.remember_match(an_answer("one", right), base="b", terminal="t")
            journal.remember_verdict(a_verdict("one", Verdict.REFUTED), base="b", match_id=match_id)
            journal.remember_verdict(a_verdict(right, Verdict.CONFIRMED), base="b", match_id=match_id)

        assert history.rivals(journal, "one") == [("two", 2), ("three", 1)]
        assert history.rivals(journal, "two") == []
        (speed,) = history.speeds(journal)
        assert (speed.decided, speed.first_right, speed.verdicts) == (3, 0, 6)


def test_history_follows_a_renamed_entry() -> None:
    """After a rename the old id is gone from the journal and its counts are the new one's."""
    with open_journal() as journal:
        journal.remember_match(an_answer("old"), base="b", terminal="t")
        journal.remember_match(an_answer("new"), base="b", terminal="t")
        journal.remember_verdict(a_verdict("old", Verdict.CONFIRMED), base="b")
        history.rename_entry(journal, "old", "new")

        assert history.by_month(journal) == {"new": {now()[:7]: history.Month(2, 1, 0, 0)}}
        assert journal.last_match(base="b", terminal="t") is not None


def test_decisions_hold_until_their_day() -> None:
    """What was put off is left alone until its day, then brought up again."""
    with open_journal() as journal:
        history.postpone(journal, "stale:one", "later", until="2026-12-31")

        assert history.postponed(journal, "2026-12-30") == {"stale:one": "later"}
        assert history.postponed(journal, "2026-12-31") == {}


def test_an_older_journal_is_migrated_with_its_counts() -> None:
    """A journal of the first version keeps its rows and gets months and shapes made from them."""
    journal_path().parent.mkdir(parents=True)
    with closing(sqlite3.connect(journal_path())) as old:
        old.executescript(MIGRATIONS[0])
        old.execute("pragma user_version = 1")
        old.execute("insert into matches values (1, '2026-10-01T00:00:00Z', 'b', '-', 'E', 'm', 'load', 'E: m', 'data', 1, 'one', 0.9, 'strong', 1.0)")
        old.execute("insert into matches values (2, '2026-10-02T00:00:00Z', 'b', '-', 'E', 'm', 'load', 'E: m', null, 0, null, null, null, 1.0)")
        old.execute("insert into verdicts values (1, '2026-10-01T00:00:09Z', 'b', 'one', 'd', 'confirmed', '', 0, 0.1, '', '', 1, 1)")
        old.commit()

    with open_journal() as journal:
        assert history.by_month(journal) == {"one": {"2026-10": history.Month(1, 1, 0, 0)}}
        assert [group.shape for group in history.missed(journal, "2026-10-01", least=1, limit=5)] == ["E: m"]
        assert journal.remember_match(an_answer("one"), base="b", terminal="t") == 3
    assert Path(journal_path()).exists()


@pytest.mark.parametrize(
    ("message", "shape"),
    [
        ("size mismatch for layer.3.weight: [8, 3] vs [8, 4]", "E: size mismatch for layer.#.weight: [#, #] vs [#, #]"),
        ("no file '/home/bob/x.pt'", "E: no file '…'"),
        ("at 0x7f3a12 after 3.5 s\nmore", "E: at # after # s"),
        ("cannot open ~/data/a.csv: gone", "E: cannot open /…: gone"),
    ],
)
def test_a_shape_has_no_numbers_names_or_places(message: str, shape: str) -> None:
    """What differs from one time to the next gives way."""
    assert shape_of(Failure("E", message, Phase.UNKNOWN, None, 1, message)) == shape

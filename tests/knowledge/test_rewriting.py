"""The larger changes of a base's life: each is one small diff, and nothing is lost."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from kbtool.errors import KbError, RefusedError
from kbtool.knowledge import rewriting
from kbtool.knowledge.entry import read_entry
from kbtool.knowledge.layers import Base
from kbtool.knowledge.outcomes import tally
from kbtool.knowledge.problems import EntryError
from tests.conftest import build_base

HEAD = "\n## Outcomes\n\n| When | Outcome | Check | Exit | Time | Environment | Note |\n| --- | --- | --- | --- | --- | --- | --- |\n"


def rows(count: int, *, verdicts: tuple[str, ...] = ("confirmed", "refuted"), check: str = "aaaaaaaa") -> str:
    """Outcome rows, one a day."""
    return "".join(f"| 2026-{1 + n // 28:02d}-{1 + n % 28:02d} 10:00Z | {verdicts[n % len(verdicts)]} | {check} | 0 | 3 ms | linux | run {n} |\n" for n in range(count))


@pytest.fixture
def entry(base: Path) -> Path:
    """The file of an entry."""
    return base / "data" / "disk-full.md"


def append(path: Path, text: str) -> bytes:
    """Add `text` to a file; returns its bytes."""
    path.write_bytes(path.read_bytes() + text.encode("utf-8"))
    return path.read_bytes()


def test_folding_keeps_every_count(entry: Path) -> None:
    """Old rows become one row for each verdict and check, the newest stay as they are, and every count stays what it was."""
    append(entry, HEAD + rows(30, check="bbbbbbbb") + rows(90))
    before = read_entry(entry, "data")

    gone = rewriting.fold_outcomes(entry, keep=50)

    after = read_entry(entry, "data")
    assert gone == 120 - 50 - 4
    assert len(after.outcomes) == 54
    assert after.outcomes[-50:] == before.outcomes[-50:]
    for check in ("aaaaaaaa", "bbbbbbbb", None):
        one, other = tally(before.outcomes, check), tally(after.outcomes, check)
        assert (one.confirmed, one.refuted) == (other.confirmed, other.refuted)
    assert "folded, since 2026-01-01" in entry.read_text(encoding="utf-8")


def test_folding_again_folds_the_summaries(entry: Path) -> None:
    """A summary that is folded once more keeps its count and its first day."""
    append(entry, HEAD + rows(120))
    rewriting.fold_outcomes(entry, keep=50)
    append(entry, rows(60).replace("2026-", "2027-"))
    before = tally(read_entry(entry, "data").outcomes)

    rewriting.fold_outcomes(entry, keep=50)

    after = read_entry(entry, "data").outcomes
    assert (tally(after).confirmed, tally(after).refuted) == (before.confirmed, before.refuted)
    assert len(after) == 52
    assert "folded, since 2026-01-01" in after[0].note


def test_a_short_table_is_left_alone(entry: Path) -> None:
    """Nothing is folded below the number of rows that is kept, and no byte changes."""
    before = append(entry, HEAD + rows(50))

    assert rewriting.fold_outcomes(entry, keep=50) == 0
    assert entry.read_bytes() == before


def test_a_table_of_ones_own_below_is_no_table_of_outcomes(entry: Path) -> None:
    """A narrower table after the outcomes is left as it is, and the outcomes are folded all the same."""
    own = "\n| machine | seen |\n| --- | --- |\n| a100 | twice |\n"
    append(entry, HEAD + rows(80) + own)

    assert rewriting.fold_outcomes(entry, keep=50) == 28
    assert own in entry.read_text(encoding="utf-8")


def test_only_the_table_changes(entry: Path) -> None:
    """Folding changes rows of the table and nothing before or after it; rows of another form stay."""
    append(entry, HEAD + "| mine | my own | | | | | |\n" + rows(80) + "\n## Mine\n\nkept  \n")
    text = entry.read_text(encoding="utf-8")

    rewriting.fold_outcomes(entry, keep=50)

    after = entry.read_text(encoding="utf-8")
    assert after.split("## Outcomes")[0] == text.split("## Outcomes")[0]
    assert after.endswith("\n## Mine\n\nkept  \n")
    assert "| mine | my own | | | | | |\n" in after


def test_a_note_goes_into_its_section(entry: Path) -> None:
    """The first note makes its section before the outcomes, the second one joins it."""
    append(entry, HEAD + rows(1))
    rewriting.add_note(entry, "Retired: nobody has it.")
    rewriting.add_note(entry, "## not a heading")

    text = entry.read_text(encoding="utf-8")
    assert text.index("## Fix") < text.index("## Notes") < text.index("Retired: nobody") < text.index("\\## not a heading") < text.index("## Outcomes")
    assert len(read_entry(entry, "data").outcomes) == 1


def test_uniting_keeps_both_histories(base: Path, make_entry: Callable[..., str]) -> None:
    """Wordings, lookalikes, outcomes and texts of the one that goes are in the one that stays."""
    kept, gone = base / "data" / "disk-full.md", base / "data" / "disk-too-full.md"
    gone.write_text(
        make_entry(title="Other", symptom="OSError: disk quota exceeded", root_cause="A quota is set. It is low.", verify="quota -s", fix="Raise it.") + "\n## Not this\n\n```text\nEDQUOT in a test\n```\n" + HEAD + rows(3),
        encoding="utf-8",
    )
    append(kept, HEAD + rows(2, check="bbbbbbbb"))

    entry = rewriting.unite(kept, gone)

    other = read_entry(gone, "data")
    assert entry.symptoms == ("OSError: [Errno 28] No space left on device", "OSError: disk quota exceeded")
    assert entry.not_this == ("EDQUOT in a test",)
    assert set(other.outcomes) < set(entry.outcomes)
    assert len(entry.outcomes) == 5
    assert entry.check == read_entry(kept, "data").check
    text = kept.read_text(encoding="utf-8")
    assert all(told in text for told in ("Merged from `disk-too-full`", "A quota is set.", "quota -s", "Raise it."))


def test_uniting_twice_changes_nothing(base: Path, make_entry: Callable[..., str]) -> None:
    """After a kill between the two files the same command finishes the work without doubling anything."""
    kept, gone = base / "data" / "disk-full.md", base / "data" / "disk-too-full.md"
    gone.write_text(make_entry(title="Other", symptom="OSError: other") + HEAD + rows(3), encoding="utf-8")
    rewriting.unite(kept, gone)
    once = kept.read_bytes()

    rewriting.unite(kept, gone)

    assert kept.read_bytes() == once


def test_an_edited_text_must_be_an_entry_and_meet_what_was_read(entry: Path) -> None:
    """Neither a broken text nor one that was made from an older version takes the entry's place."""
    before = entry.read_bytes()
    with pytest.raises(EntryError):
        rewriting.replace_text(entry, b"no entry", expect=before)
    with pytest.raises(RefusedError):
        rewriting.replace_text(entry, before + b"\nmore\n", expect=before + b"x")
    assert entry.read_bytes() == before

    rewriting.replace_text(entry, before + b"\nmore\n", expect=before)
    assert entry.read_bytes() == before + b"\nmore\n"


def test_removal_spares_a_file_that_changed(entry: Path) -> None:
    """An entry that was saved meanwhile is not removed."""
    with pytest.raises(RefusedError):
        rewriting.remove_entry(entry, expect=b"older")
    assert entry.exists()


def test_moving_changes_no_byte(tmp_path: Path, make_entry: Callable[..., str]) -> None:
    """A new id and domain are a new place for the same bytes."""
    root = build_base(tmp_path / "entries", {"data/one-fault": make_entry(), "model/two-faults": make_entry()})
    base = Base(root, "chosen", writable=True)
    before = (root / "data" / "one-fault.md").read_bytes()

    target = rewriting.move_entry(base, root / "data" / "one-fault.md", entry_id="other-name", domain="serving")

    assert target == root / "serving" / "other-name.md"
    assert target.read_bytes() == before
    assert not (root / "data" / "one-fault.md").exists()


@pytest.mark.parametrize(("entry_id", "domain"), [("../x", "data"), ("x", "data"), ("fine-name", "../y"), ("two-faults", "data"), ("a/b", "data"), ("Fine", "data")])
def test_names_that_lead_elsewhere_or_are_taken_are_refused(tmp_path: Path, make_entry: Callable[..., str], entry_id: str, domain: str) -> None:
    """Nothing moves outside of the base nor over another entry."""
    root = build_base(tmp_path / "entries", {"data/one-fault": make_entry(), "model/two-faults": make_entry()})
    before = sorted(tmp_path.rglob("*"))

    with pytest.raises(KbError):
        rewriting.move_entry(Base(root, "chosen", writable=True), root / "data" / "one-fault.md", entry_id=entry_id, domain=domain)

    assert sorted(tmp_path.rglob("*")) == before

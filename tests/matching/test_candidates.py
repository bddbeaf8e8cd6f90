"""Candidates are found by their postings: little is read, whatever the size of the base, and the right entries come first."""

from __future__ import annotations

import random
from array import array
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from kbtool.knowledge.layers import Base
from kbtool.matching import answer, candidates
from kbtool.matching.answer import answer_text
from kbtool.matching.index import Index, Layer, index_path, open_index
from kbtool.matching.postings import CONTEXT, PARTS, SHIFT, SYMPTOM, TITLE, packed, posting, token_parts, unpacked
from kbtool.matching.profile import Profile, Wording, WordingLine, symptom_tokens
from kbtool.matching.rows import Record
from tests.conftest import Kb, build_base

WORDS = "loader worker killed signal shape mismatch driver version kernel image attention mask tokenizer padding checkpoint gradient".split()
SIZE = 400


class Counted(Index):
    """An index that counts what it is asked for."""

    postings_read = 0
    records_read = 0

    def postings(self, layer: Layer, tokens: Sequence[str]) -> dict[str, array[int]]:
        """Count the postings."""
        found = super().postings(layer, tokens)
        self.postings_read += sum(map(len, found.values()))
        return found

    def records(self, layer: Layer, numbers: Sequence[int]) -> dict[int, Record]:
        """Count the records."""
        self.records_read += len(numbers)
        return super().records(layer, numbers)


@pytest.fixture
def root(tmp_path: Path, make_entry: Callable[..., str]) -> Path:
    """A base of entries that have nearly all words in common."""
    texts = {}
    for number in range(SIZE):
        chosen = " ".join(random.Random(number).sample(WORDS, 8))
        texts[f"data/fault-{number}"] = make_entry(title=f"Fault {chosen}", symptom=f"RuntimeError: {chosen} thing{number}", root_cause=f"Because of {chosen}.")
    return build_base(tmp_path / "entries", texts)


def counted(root: Path) -> Counted:
    """The index of a base, counting."""
    index = open_index([Base(root, "chosen", True)])
    return Counted(index.layers, index.problems)


def test_what_is_read_is_bounded(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where every entry holds most of the question's words, no more postings than allowed are looked at, and at most twenty entries are opened."""
    monkeypatch.setattr(answer, "POSTINGS", 1000)
    index = counted(root)
    found = answer_text(f"RuntimeError: {' '.join(WORDS)} thing7\n", index)

    assert found.matches[0].id == "fault-7"
    assert index.records_read <= candidates.MOST == 20
    assert 200 < index.postings_read <= 1000


def test_a_bound_below_every_token_still_finds_something(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a base so large that every token of the question exceeds the bounds, the most telling one is looked up all the same."""
    monkeypatch.setattr(answer, "POSTINGS", 1)
    monkeypatch.setattr(candidates, "SIFTED", 1)

    assert answer_text("RuntimeError: loader worker killed signal shape\n", counted(root)).matches


def test_a_clear_question_opens_few(tmp_path: Path, make_entry: Callable[..., str]) -> None:
    """An entry whose symptom stands in the text word for word leaves the others no hope: only the first portion is opened."""
    texts = {f"data/other-{number}": make_entry(title=f"Other {WORDS[number]}", symptom=f"ValueError: other {WORDS[number]} {number}") for number in range(len(WORDS))}
    texts["data/right-one"] = make_entry(title="The queue of the feeder is locked", symptom="RuntimeError: feeder queue locked by stale owner, cannot enqueue loader batch")
    index = counted(build_base(tmp_path / "entries", texts))
    found = answer_text("RuntimeError: feeder queue locked by stale owner, cannot enqueue loader batch\nValueError: other\n", index)

    assert found.matches[0].id == "right-one"
    assert index.records_read <= candidates.PORTIONS[1]


def test_retired_entries_take_no_place(root: Path) -> None:
    """A retired entry is no candidate unless it is asked for."""
    path = root / "data" / "fault-7.md"
    path.write_text(path.read_text().replace("status: active", "status: retired"))
    assert "status: retired" in path.read_text()
    index = counted(root)
    text = f"RuntimeError: {' '.join(random.Random(7).sample(WORDS, 8))} thing7\n"

    assert "fault-7" not in {match.id for match in answer_text(text, index).matches}
    assert answer_text(text, index, all=True).matches[0].id == "fault-7"


def test_postings_tell_the_parts() -> None:
    """Symptom, prose and title of an entry are told apart; the words of its id are kept as belonging to none."""
    line = WordingLine(("queue", "locked"), ("queue", "locked"), 1.0)
    wording = Wording((line,), frozenset(), ((1.6, ("queue",)),), ((1.0, ("locked",)),))
    profile = Profile((wording,), (), frozenset({"queue", "feeder", "owner"}), frozenset({"feeder"}))

    assert token_parts(profile, symptom_tokens(profile), "stale-queue") == {"stale": 0, "queue": SYMPTOM | CONTEXT, "locked": SYMPTOM, "feeder": CONTEXT | TITLE, "owner": CONTEXT}


def test_postings_are_kept_as_they_are() -> None:
    """Numbers and parts come back, also those of an index of a hundred million entries."""
    values = [posting(number, parts) for number in (1, 77, 100_000_000) for parts in (0, SYMPTOM, PARTS)]

    assert list(unpacked(packed(values))) == values
    assert [(value >> SHIFT, value & PARTS) for value in values[3:6]] == [(77, 0), (77, SYMPTOM), (77, PARTS)]


def numbered(root: Path) -> dict[str, tuple[int, str]]:
    """Every entry's number in the index and what is compared of it."""
    index = open_index([Base(root, "chosen", True)])
    rows = index.layers[0].connection.execute("SELECT id, number, profile FROM entry").fetchall()
    index.close()
    return {entry_id: (number, profile) for entry_id, number, profile in rows}


@pytest.mark.parametrize("command", ["learn", "add"])
def test_a_command_leaves_a_fresh_index(root: Path, kb: Kb, tmp_path: Path, command: str) -> None:
    """After `learn` and `add` the next match finds the index fresh, and only the entry concerned has changed in it."""
    before = numbered(root)
    if command == "learn":
        wording = tmp_path / "wording.txt"
        wording.write_text("RuntimeError: quite another wording of it\n")
        done, concerned = kb("--entries", str(root), "learn", "fault-7", str(wording)), "fault-7"
    else:
        options = {"--title": "Feeder locked", "--domain": "data", "--symptom": "OSError: feeder locked", "--root-cause": "A stale owner.", "--verify": "true", "--confirms": "exit zero", "--fix": "Remove it."}
        done = kb("--entries", str(root), "add", "--id", "feeder-locked", "--no-run", *(word for pair in options.items() for word in pair))
        concerned = "feeder-locked"
    path = index_path(Base(root, "chosen", True))
    left = path.stat()
    after = numbered(root)

    assert done.returncode == 0, done.stderr
    assert (path.stat().st_ino, path.stat().st_mtime_ns) == (left.st_ino, left.st_mtime_ns)
    assert {entry_id for entry_id in after if after[entry_id] != before.get(entry_id)} == {concerned}

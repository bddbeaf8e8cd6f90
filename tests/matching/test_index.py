"""The index is a cache: always fresh, never in the way, and any doubt ends in a new one."""

from __future__ import annotations

import os
import random
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kbtool.knowledge.layers import Base
from kbtool.matching.answer import answer_text
from kbtool.matching.index import Index, index_path, open_index
from kbtool.matching.postings import PARTS, SHIFT, unpacked
from kbtool.matching.search import search
from tests.conftest import build_base

WORDS = "loader worker killed signal shape mismatch driver version kernel image attention mask tokenizer padding checkpoint".split()


def entry_text(make_entry: Callable[..., str], number: int, wording: str = "") -> str:
    """An entry that differs from the others by its words and its number."""
    chosen = " ".join(random.Random(number).sample(WORDS, 6))
    return make_entry(title=f"Fault number {number} {chosen}", symptom=f"RuntimeError: {chosen} thing{number} {wording}".strip(), root_cause=f"Because of {chosen}.")


@pytest.fixture
def root(tmp_path: Path, make_entry: Callable[..., str]) -> Path:
    """A base of twelve entries in two domains."""
    return build_base(tmp_path / "entries", {f"{'data' if n % 2 else 'model'}/fault-{n}": entry_text(make_entry, n) for n in range(12)})


def opened(root: Path) -> Index:
    """The fresh index of a base."""
    return open_index([Base(root, "chosen", True)])


def dump(index: Index) -> list[object]:
    """Everything an index knows, without row numbers and time stamps."""
    connection = index.layers[0].connection
    entries = connection.execute("SELECT id, title, profile, title_tokens, salient_tokens, symptom_tokens, outcomes, card FROM entry JOIN card USING (number) ORDER BY id").fetchall()
    ids = dict(connection.execute("SELECT number, id FROM entry").fetchall())
    terms = {
        token: (count, sorted((ids[value >> SHIFT], value & PARTS) for value in unpacked(postings)))
        for token, count, postings in connection.execute("SELECT token, entries, postings FROM term")
    }
    return [entries, terms, connection.execute("SELECT path, problems FROM file ORDER BY path").fetchall()]


def answers(root: Path) -> list[tuple[str, float]]:
    """What a base answers to one question."""
    index = opened(root)
    found = [(match.id, match.score) for match in answer_text("RuntimeError: loader worker killed thing3 thing5", index).matches]
    index.close()
    return found


def test_updates_equal_a_full_build(root: Path, make_entry: Callable[..., str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """After each of sixty random edits (add, change, remove, move, break) the updated index holds what a fresh one holds."""
    chance = random.Random(7)
    opened(root).close()
    for turn in range(60):
        files = sorted(path for path in root.glob("*/*.md") if path.name != "README.md")
        path = chance.choice(files)
        action = chance.choice(["add", "change", "remove", "move", "break"])
        if action == "add":
            (root / "data" / f"added-{turn}.md").write_text(entry_text(make_entry, 100 + turn))
        elif action == "change":
            path.write_text(entry_text(make_entry, turn, wording="changed"))
        elif action == "break":
            path.write_text("no entry at all\n")
        elif action == "remove" and len(files) > 4:
            path.unlink()
        elif action == "move":
            path.rename(root / ("model" if path.parent.name == "data" else "data") / path.name)
        updated = opened(root)
        with monkeypatch.context() as elsewhere:
            elsewhere.setenv("XDG_CACHE_HOME", str(tmp_path / f"cache-{turn}"))
            fresh = opened(root)
        assert dump(updated) == dump(fresh), (turn, action)
        updated.close()
        fresh.close()


@pytest.mark.parametrize("harm", ["flip", "truncate", "empty", "directory", "version", "foreign", "no seal", "locked away"])
def test_a_harmed_index_answers_like_a_fresh_one(root: Path, harm: str) -> None:
    """Random bytes flipped, cut, emptied, replaced or of another version: the same answer, and no complaint."""
    expected = answers(root)
    path = index_path(Base(root, "chosen", True))
    chance = random.Random(harm)
    for _ in range(12 if harm == "flip" else 1):
        data = bytearray(path.read_bytes())
        if harm == "flip":
            data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
            path.write_bytes(data)
        elif harm == "truncate":
            path.write_bytes(data[: len(data) // 2])
        elif harm == "empty":
            path.write_bytes(b"")
        elif harm == "directory":
            path.unlink()
            path.mkdir()
        elif harm == "version":
            _set_version(path)
        elif harm == "foreign":
            path.write_bytes(b"this is no database\n" * 300)
        elif harm == "no seal":
            path.with_suffix(".seal").unlink()
        elif harm == "locked away":
            path.chmod(0)
        assert answers(root) == expected


def _set_version(path: Path) -> None:
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE meta SET value = 'another' WHERE key = 'version'")


def test_an_edit_with_the_old_size_and_time_is_seen(root: Path, make_entry: Callable[..., str]) -> None:
    """Same length, and the modification time set back: the change of status time still tells, twenty times over."""
    path = root / "data" / "fault-1.md"
    for turn in range(20):
        opened(root).close()
        status = path.stat()
        text = path.read_text().replace("RuntimeError", "OverflowError") if turn % 2 == 0 else path.read_text().replace("OverflowError", "RuntimeError")
        if turn % 2 == 0:
            text = text.replace("OverflowError", "ZeroDivError")
        text = text.replace("ZeroDivError", "RuntimeErroX") if turn % 2 == 0 else text.replace("RuntimeErroX", "RuntimeError")
        assert len(text) == len(path.read_text())
        path.write_text(text)
        os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
        profile = opened(root).layers[0].connection.execute("SELECT profile FROM entry WHERE id = 'fault-1'").fetchone()[0]
        assert ("runtimeerrox" in profile) == (turn % 2 == 0)


def test_a_cache_that_can_not_be_written_costs_nothing_but_time(root: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A file where the cache folder should be: the index lives in memory and answers the same."""
    expected = answers(root)
    (tmp_path / "blocked").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "blocked"))

    assert answers(root) == expected


def test_a_broken_entry_hides_no_other(root: Path) -> None:
    """One broken file among twelve: eleven are found, and its path and line are told, from the fresh and from the kept index."""
    (root / "data" / "fault-1.md").write_text("---\nstatus: nonsense\n---\n\n# Title\n")
    for _ in range(2):
        index = opened(root)
        assert index.size == 11
        assert {(problem.path.name, problem.line) for problem in index.problems} >= {("fault-1.md", 2)}


def test_the_upper_layer_wins(root: Path, tmp_path: Path, make_entry: Callable[..., str]) -> None:
    """The same id in two layers: only the upper one's entry is answered, and both bases are searched."""
    upper = build_base(tmp_path / "upper", {"data/fault-1": make_entry(title="Mine", symptom="RuntimeError: quite another wording here")})
    index = open_index([Base(upper, "project", True), Base(root, "shipped", False)])

    assert index.record("fault-1") is not None and index.record("fault-1").title == "Mine"  # type: ignore[union-attr]
    assert [match.title for match in answer_text("RuntimeError: quite another wording here", index).matches if match.id == "fault-1"] == ["Mine"]
    assert answer_text(root.joinpath("data/fault-3.md").read_text().split("```")[1], index).matches[0].id == "fault-3"


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(max_size=300))
def test_no_text_is_an_error(root: Path, text: str) -> None:
    """Quotes, operators, column names, NULs: any text is a question, and any text is a search."""
    index = opened(root)
    answer_text(text, index)
    search(text, index)
    index.close()


@pytest.mark.parametrize("text", ['RuntimeError: NOT a "thing" NEAR(x y) terms: OR AND *', "ValueError: ^col: -x + (y) [z] 'q' ;--"])
def test_a_text_full_of_operators_finds_its_own_entry(tmp_path: Path, make_entry: Callable[..., str], text: str) -> None:
    """What would be syntax in a query is text."""
    root = build_base(tmp_path / "entries", {"data/own-text": make_entry(symptom=text), "data/other-text": make_entry(title="Other", symptom="KeyError: 'a'")})

    assert answer_text(text, opened(root)).matches[0].id == "own-text"

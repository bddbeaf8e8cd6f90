"""Merging branches with real git: rows of both sides are united, the rest is git's, and without the driver git merges as usual."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from kbtool.knowledge.entry import parse_entry, read_entry
from kbtool.knowledge.merging import merge_entries, unite
from kbtool.knowledge.starting import start_base
from kbtool.knowledge.writing import append_outcome
from kbtool.model import Outcome, Verdict

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="needs git")


@pytest.fixture
def git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Run git in the repository of the test, with `kb` on PATH."""
    tools = tmp_path / "bin"
    tools.mkdir()
    root = Path(__file__).resolve().parents[2]
    (tools / "kb").write_text(f'#!/bin/sh\nPYTHONPATH={root} exec {sys.executable} -m kbtool "$@"\n')
    (tools / "kb").chmod(0o755)
    monkeypatch.setenv("PATH", os.pathsep.join([str(tools), os.environ["PATH"]]))
    for role in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{role}_NAME", "A Person")
        monkeypatch.setenv(f"GIT_{role}_EMAIL", "person@example.org")
    repository = tmp_path / "repository"
    repository.mkdir()

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(["git", *arguments], cwd=repository, capture_output=True, text=True, check=False)

    run("init", "-q", "-b", "trunk")
    return run


@pytest.fixture
def entry(tmp_path: Path, git: Callable[..., object], make_entry: Callable[..., str]) -> Path:
    """A committed base with one entry that has one outcome, and the driver installed by `start_base`."""
    base = tmp_path / "repository" / "entries"
    start_base(base)
    path = base / "data" / "some-fault.md"
    path.parent.mkdir(exist_ok=True)
    path.write_text(make_entry())
    record(path, "first", "10:00")
    git("add", "-A")
    git("commit", "-q", "-m", "base")
    return path


def record(path: Path, note: str, time: str, verdict: Verdict = Verdict.CONFIRMED) -> None:
    """One outcome, as `kb verify` writes it."""
    digest = parse_entry(path.read_bytes(), path=path, domain="data").check.digest  # type: ignore[union-attr]
    append_outcome(path, Outcome(f"2026-11-30 {time}Z", verdict, digest, 0, 0.1, "linux", note), expect_check=digest)


def branches(git: Callable[..., subprocess.CompletedProcess[str]], ours: Callable[[], None], theirs: Callable[[], None]) -> subprocess.CompletedProcess[str]:
    """Two branches, one change each, merged into the first."""
    git("checkout", "-q", "-b", "other")
    theirs()
    git("commit", "-q", "-a", "-m", "theirs")
    git("checkout", "-q", "trunk")
    ours()
    git("commit", "-q", "-a", "-m", "ours")
    return git("merge", "--no-edit", "other")


def notes(path: Path) -> list[str]:
    """The notes of an entry's outcomes."""
    return [outcome.note for outcome in read_entry(path, "data").outcomes]


def test_rows_of_both_branches_are_united(entry: Path, git: Callable[..., subprocess.CompletedProcess[str]]) -> None:
    """Two people verify on two branches: after the merge every row is there once, in order of time, and prose of both sides too."""

    def ours() -> None:
        record(entry, "ours 1", "10:20")
        record(entry, "ours 2", "10:40")
        entry.write_text(entry.read_text().replace("Move the cache.", "Move the cache to a larger disk."))

    def theirs() -> None:
        record(entry, "theirs 1", "10:10")
        record(entry, "theirs 2", "10:30", Verdict.REFUTED)
        entry.write_text(entry.read_text().replace("tags: [data]", "tags: [data, disk]"))

    done = branches(git, ours, theirs)

    assert done.returncode == 0, done
    assert notes(entry) == ["first", "theirs 1", "ours 1", "theirs 2", "ours 2"]
    assert "larger disk" in entry.read_text() and "[data, disk]" in entry.read_text()
    assert git("status", "--porcelain").stdout == ""


def test_a_conflict_in_the_prose_stays_a_conflict(entry: Path, git: Callable[..., subprocess.CompletedProcess[str]]) -> None:
    """Both sides change the same sentence: git marks it, and the rows are united all the same."""

    def change(word: str, time: str) -> Callable[[], None]:
        def make() -> None:
            record(entry, word, time)
            entry.write_text(entry.read_text().replace("Move the cache.", f"Move the cache {word}."))

        return make

    done = branches(git, change("up", "10:20"), change("down", "10:10"))

    text = entry.read_text()
    assert done.returncode != 0 and "<<<<<<<" in text and ">>>>>>>" in text
    assert text.count("| down |") == 1 and text.count("| up |") == 1
    entry.write_text(text.replace("<<<<<<< ours\n", "").replace("=======\n", "").replace(">>>>>>> theirs\n", ""))
    assert notes(entry) == ["first", "down", "up"]


def test_the_first_outcome_on_both_branches(entry: Path, git: Callable[..., subprocess.CompletedProcess[str]], make_entry: Callable[..., str]) -> None:
    """Both sides make the Outcomes section: it is there once, before a section that follows it."""
    entry.write_text(make_entry() + "\n## My own section\n\nText.\n")
    git("commit", "-q", "-a", "-m", "no outcomes")

    done = branches(git, lambda: record(entry, "ours", "10:20"), lambda: record(entry, "theirs", "10:10"))

    assert done.returncode == 0, done
    assert notes(entry) == ["theirs", "ours"]
    assert entry.read_text().count("## Outcomes") == 1 and "## My own section\n\nText.\n" in entry.read_text()


def test_without_the_driver_git_merges_as_usual(entry: Path, git: Callable[..., subprocess.CompletedProcess[str]]) -> None:
    """A clone that never installed the driver gets an ordinary conflict."""
    git("config", "--remove-section", "merge.kb-entry")

    done = branches(git, lambda: record(entry, "ours", "10:20"), lambda: record(entry, "theirs", "10:10"))

    assert done.returncode == 1 and "<<<<<<<" in entry.read_text()


def test_a_broken_entry_is_merged_as_text(entry: Path, git: Callable[..., subprocess.CompletedProcess[str]]) -> None:
    """What is no entry on one side is merged by git alone, and nothing is lost."""
    done = branches(
        git,
        lambda: entry.write_bytes(entry.read_bytes().replace(b"## Root cause", b"\xff\xfe## Root cause")) and None,  # type: ignore[func-returns-value]
        lambda: entry.write_text(entry.read_text().replace("tags: [data]", "tags: [disk]")) and None,  # type: ignore[func-returns-value]
    )

    assert done.returncode == 0, done
    assert b"\xff\xfe## Root cause" in entry.read_bytes() and b"[disk]" in entry.read_bytes()


def test_merging_keeps_line_endings(make_entry: Callable[..., str], tmp_path: Path) -> None:
    """Entries with CRLF stay so, rows included."""
    path = tmp_path / "entries" / "data" / "some-fault.md"
    path.parent.mkdir(parents=True)
    versions = []
    for note in ("first", "ours", "theirs"):
        path.write_bytes(versions[0] if versions else make_entry().replace("\n", "\r\n").encode())
        record(path, note, "10:00")
        versions.append(path.read_bytes())

    merged = merge_entries(*versions)

    assert not merged.conflicts
    assert b"\n" not in merged.data.replace(b"\r\n", b"")
    path.write_bytes(merged.data)
    assert notes(path) == ["first", "ours", "theirs"]


def test_uniting_rows() -> None:
    """Added on either side: added; folded away on one side: gone; the same row found twice: twice."""
    a, b, c, d = (f"| 2026-11-30 1{number}:00Z | x |".encode() for number in range(4))

    assert unite((a,), (a, c), (a, b)) == [a, b, c]
    assert unite((a, b), (d,), (a, b, c)) == [c, d]
    assert unite((), (a,), (a,)) == [a, a]
    assert unite((a,), (a,), (a,)) == [a]

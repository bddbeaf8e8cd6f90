"""Lint: errors at their line, and the advice that keeps a check a check."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from kbtool.knowledge.layers import Base
from kbtool.knowledge.lint import commands_of, is_fix, is_sentence, lint_bases, lint_file
from tests.conftest import build_base

COMMANDS = {
    "df -k --output=avail /dev/shm | tail -1": ["df", "tail"],
    "nvidia-smi -L && CUDA_VISIBLE_DEVICES=0 python -c 'import torch' 2>&1 | grep -c foo": ["nvidia-smi", "python", "grep"],
    "for f in *.md; do stat $f; done": ["stat"],
    "[ -d /x ] && lsof -i :80": ["[", "lsof"],
    "python -c \"print('a|b')\" > /dev/null": ["python"],
    "/usr/bin/env python": [],
    "echo 'unclosed": [],
}

FIXES = ["ulimit -n 65536", "pip install torch", "sudo apt-get install ffmpeg", "kill -9 1234", "rm -rf ~/.cache", "export A=1", "pkill python"]
CHECKS = ["ulimit -n", "pip show torch", "kill -0 $PID", "kill -l", "printenv A", "df -h", "python -c 'import torch'", "grep -c rm file", "pip list"]

SENTENCES = ["Check the batch size", "make sure the labels fit", "see whether the port is free", "检查 标签 是否 越界"]
NO_SENTENCES = ["check-jsonschema file", "test -f x", "run-parts --test /etc", "look -d word", "verify x | wc -l"]


@pytest.mark.parametrize("line", COMMANDS)
def test_command_words(line: str) -> None:
    """The commands of a shell line are the first words of its parts, whatever the quoting."""
    assert commands_of(line) == COMMANDS[line]


@pytest.mark.parametrize("line", FIXES + CHECKS)
def test_fixes_are_told_from_checks(line: str) -> None:
    """A command that changes something is a fix; one that looks is none."""
    assert is_fix(line) == (line in FIXES)


@pytest.mark.parametrize("line", SENTENCES + NO_SENTENCES)
def test_sentences_are_told_from_commands(line: str) -> None:
    """A description of what to do is noticed; commands that begin with the same word are not."""
    assert is_sentence(line) == (line in SENTENCES)


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        ({"verify": "nvidia-smi -L"}, "add `command:nvidia-smi` to `needs`"),
        ({"verify": "ulimit -n 65536"}, "that is a fix"),
        ({"verify": "Check the batch size"}, "reads like a sentence"),
        ({"confirms": "true"}, "is for a `python` expression"),
    ],
)
def test_advice(parts: dict[str, str], expected: str, tmp_path: Path, make_entry: Callable[..., str]) -> None:
    """Each piece of advice names what to do, at the line of the check."""
    root = build_base(tmp_path / "entries", {"data/disk-full": make_entry(**parts)})
    problems = lint_file(root / "data" / "disk-full.md")

    assert [problem.line for problem in problems if expected in problem.message] == [23]


def test_a_good_entry_has_no_problems(tmp_path: Path, make_entry: Callable[..., str]) -> None:
    """Lint says nothing about an entry that is complete."""
    root = build_base(tmp_path / "entries", {"data/disk-full": make_entry()})

    assert list(lint_bases([Base(root, "project", True)])) == []


def test_an_id_in_two_domains(tmp_path: Path, make_entry: Callable[..., str]) -> None:
    """The same id in two domains of one base is an error that names both files."""
    root = build_base(tmp_path / "entries", {"data/disk-full": make_entry(), "model/disk-full": make_entry()})

    assert [problem.message for problem in lint_bases([Base(root, "project", True)]) if "stands twice" in problem.message]


def test_a_long_minimal_check_and_a_missing_page(tmp_path: Path, make_entry: Callable[..., str]) -> None:
    """Domain pages are checked too."""
    root = build_base(tmp_path / "entries", {"data/disk-full": make_entry(), "model/other-fault": make_entry()})
    page = root / "data" / "README.md"
    page.write_text(page.read_text().replace("true\n", "a\nb\nc\nd\n"))
    (root / "model" / "README.md").unlink()
    messages = [problem.message for problem in lint_bases([Base(root, "project", True)])]

    assert messages == ["the minimal check has more than three lines", "the domain has no page"]

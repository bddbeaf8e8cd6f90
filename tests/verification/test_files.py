"""A check that searches files needs some to look at; where there are none it says nothing."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from kbtool.knowledge.checks import parse_need
from kbtool.model import Entry
from kbtool.verification.consent import Consent, Request
from kbtool.verification.files import absent, search_line
from kbtool.verification.run import verify
from kbtool.verification.shell import surroundings_of
from tests.conftest import Kb, build_base
from tests.verification.conftest import HERE


@pytest.fixture
def job(tmp_path: Path) -> Path:
    """A job's folder: a script in a subfolder, a table, and an installed package."""
    folder = tmp_path / "a job"
    for name in ("src/train.py", "rows.tsv", "lib/site-packages/other/module.yaml"):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x = 1\n")
    return folder


@pytest.mark.parametrize(
    ("need", "there"),
    [
        ("file:*.py", True),
        ("file:*.csv", False),
        ("file:*.csv|*.tsv", True),
        ("file:train.py", True),
        ("file:*.yaml", False),
        ("file:$ROWS/*.tsv", True),
        ("file:$ELSEWHERE/*.tsv", False),
        ("file:$NOT_SET/*.tsv", True),
    ],
)
def test_a_file_is_looked_for_below_the_folder(need: str, there: bool, job: Path, tmp_path: Path) -> None:
    """Patterns are alternatives, a variable names another folder, and installed packages do not count."""
    (tmp_path / "empty").mkdir()
    environment = {"PATH": "/usr/bin:/bin", "ROWS": str(job), "ELSEWHERE": str(tmp_path / "empty")}

    assert absent(["linux", need], environment, folder=job) == ([] if there else [need])


def test_a_need_is_quoted_for_the_shell() -> None:
    """What stands in a need is a pattern and never a command."""
    assert search_line(parse_need("file:$(id)|;ls")) == "find . \\( -name '$(id)' -o -name ';ls' \\) ! -path '*/site-packages/*' | head -n 1"


@pytest.mark.parametrize("need", ["file:", "file:a/b.py", "file:$DATA/", "file:a b", "file:it's"])
def test_a_need_that_is_no_pattern_is_refused(need: str) -> None:
    """A path, blanks and quotes are no pattern; `kb lint` says so."""
    with pytest.raises(ValueError, match="is no need kb knows"):
        parse_need(need)


def test_where_there_is_no_file_nothing_is_refuted(kb: Kb, job: Path, tmp_path: Path, make_entry: Callable[..., str]) -> None:
    """Beside the job's files the check answers; in an empty folder it is inconclusive, and says where to stand."""
    text = make_entry(verify="grep -rn 'x = 1' --include='*.py' .", confirms="stdout contains x")
    base = build_base(tmp_path / "entries", {"data/some-fault": text.replace("status: active", "needs: [file:*.py]\nstatus: active")})
    kb("allow", "some-fault", entries=base)

    beside = kb("verify", "some-fault", entries=base, cwd=job)
    away = kb("verify", "some-fault", entries=base)
    looked = kb("verify", "some-fault", "--dry-run", entries=base)

    assert beside.returncode == 0 and "src/train.py" in beside.stdout
    assert away.returncode == 3 and "needs not met: file:*.py (no such file in or below" in away.stdout
    assert "unmet:       file:*.py" in looked.stdout


def test_files_are_looked_for_where_the_check_runs(job: Path, tmp_path: Path, allowed_entry: Callable[..., Entry]) -> None:
    """Behind a prefix the files of that place count, not those of here."""
    tool = tmp_path / "elsewhere"
    tool.write_text(f"#!/bin/sh\ncd '{job}' && exec \"$@\"\n")
    tool.chmod(0o755)
    (tmp_path / "empty").mkdir()
    entry = allowed_entry("true", needs=("file:*.tsv",))
    assert entry.check is not None
    Consent().allow(Request(entry.id, entry.path, entry.check, str(tool)))
    here = verify(entry, surroundings=surroundings_of(scratch=True), here=HERE)
    there = verify(entry, surroundings=surroundings_of(via=str(tool), scratch=True), here=HERE)

    assert (here.verdict.value, here.ran) == ("inconclusive", False)
    assert there.verdict.value == "confirmed"

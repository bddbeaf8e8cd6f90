"""list, show, search, init and doctor on real bases."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

from tests.conftest import Kb, build_base

OUTCOMES = """
## Outcomes

| When | Outcome | Check | Exit | Time | Environment | Note |
| --- | --- | --- | --- | --- | --- | --- |
| 2026-11-01 10:00Z | refuted | 00000000 | 1 | 5 ms | linux · py3.11 | |
| 2026-11-02 10:00Z | confirmed ×8 | {digest} | 0 | 12 ms | linux · py3.12 | job 7 |
"""


def test_list_groups_by_domain_and_filters(kb: Kb, base: Path, make_entry: Callable[..., str]) -> None:
    """Entries stand under their domains; status and domain narrow them; nothing left is exit 1."""
    build_base(base, {"model/bad-shape": make_entry(domain="model", title="A shape is wrong").replace("active", "draft")})

    assert kb("list", entries=base).stdout.splitlines()[:2] == ["data", "  disk-full  A loader dies because the disk is full"]
    assert "bad-shape  A shape is wrong (draft)" in kb("list", entries=base, env={}).stdout
    assert "disk-full" not in kb("list", "--status", "draft", entries=base).stdout
    assert kb("list", "--tag", "nothing", entries=base).returncode == 1
    for option, value, known in (("--domain", "hang", "data, model"), ("--status", "bogus", "draft, active, retired")):
        done = kb("list", option, value, entries=base)
        assert done.returncode == 2 and known in done.stderr


def test_show_draws_the_history(kb: Kb, base: Path, make_entry: Callable[..., str]) -> None:
    """The history is drawn, its rows are told, and an outcome of an older check says that the check changed."""
    path = base / "data" / "disk-full.md"
    digest = json.loads(kb("show", "disk-full", "--json", entries=base).stdout)["check"]["digest"]
    path.write_text(path.read_text() + OUTCOMES.format(digest=digest))
    shown = kb("show", "disk-full", entries=base).stdout

    assert "History  ○●" in shown
    assert "2026-11-01 10:00Z · refuted · 5 ms · linux · py3.11 · the check changed since" in shown
    assert "2026-11-02 10:00Z · confirmed ×8 · 12 ms · linux · py3.12 · job 7\n" in shown
    assert shown.endswith("next: kb verify disk-full\n")


def test_show_takes_a_number_of_the_last_match(kb: Kb, base: Path) -> None:
    """`kb show 1` is the best answer of the last match."""
    assert kb("show", "1", entries=base).returncode in (1, 2)
    kb("match", entries=base, input="OSError: [Errno 28] No space left on device\n")

    assert "A loader dies" in kb("show", "1", entries=base).stdout


def test_show_obeys_no_escape(kb: Kb, base: Path, make_entry: Callable[..., str]) -> None:
    """What an entry contains is shown, never obeyed: control and direction characters become visible."""
    (base / "data" / "disk-full.md").write_text(make_entry(symptom="a\x1b]52;c;x\x07\u202eb\x9b31m", title="t\x1b[2J"))
    for done in (kb("show", "disk-full", entries=base), kb("list", entries=base), kb("show", "disk-full", "--raw", entries=base)):
        assert done.returncode == 0
        assert not [char for char in done.stdout if (ord(char) < 32 and char not in "\n\t") or 0x7F <= ord(char) < 0xA0 or char == "\u202e"]


def test_search_finds_all_words_first(kb: Kb, base: Path, make_entry: Callable[..., str]) -> None:
    """An entry with every word comes before one with some; nothing is exit 1."""
    build_base(base, {"model/other-full": make_entry(title="The register is full", symptom="x", root_cause="y", fix="z")})
    hits = json.loads(kb("search", "disk", "full", "--json", entries=base).stdout)

    assert [hit["id"] for hit in hits][:1] == ["disk-full"]
    assert kb("search", "zebra", entries=base).returncode == 1
    assert kb("search", '"', "*", "NEAR(", entries=base).returncode == 1


def test_init_makes_a_base_that_lint_and_git_accept(kb: Kb, tmp_path: Path) -> None:
    """`kb init` makes the eight domain pages and the merge driver; a second one changes nothing; doctor sees it."""
    project = tmp_path / "project"
    project.mkdir()
    subprocess.run(["git", "init", "-q", str(project)], check=True)
    first = kb("init", cwd=project)
    page = project / "entries" / "data" / "README.md"
    page.write_text(page.read_text() + "\nOurs.\n")
    second = kb("init", cwd=project)

    assert (first.returncode, second.returncode) == (0, 0)
    assert sorted(path.parent.name for path in (project / "entries").glob("*/README.md")) == [
        *("data", "distributed", "environment", "hang", "logging", "model", "serving", "training")
    ]
    assert page.read_text().endswith("\nOurs.\n") and "nothing was changed" in second.stderr
    assert kb("lint", cwd=project).returncode == 0
    attribute = subprocess.run(["git", "-C", str(project), "check-attr", "merge", "entries/data/x.md"], capture_output=True, text=True)
    assert attribute.stdout.strip().endswith("kb-entry")
    assert "✓ git merge" in kb("doctor", cwd=project).stdout


def test_doctor_names_what_is_broken(kb: Kb, base: Path) -> None:
    """Doctor names the base, why it is used, and every broken entry; that is exit 1."""
    assert kb("doctor", entries=base).returncode == 0
    (base / "data" / "broken-one.md").write_text("no title\n")
    done = kb("doctor", entries=base)

    assert done.returncode == 1
    assert "named by --entries or $KB_ENTRIES" in done.stdout
    assert f"{base / 'data' / 'broken-one.md'}:1: has no title" in done.stdout

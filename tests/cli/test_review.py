"""`kb review` and what it carries out: retire, fold, merge, edit, rename."""

from __future__ import annotations

import datetime
import json
import sqlite3
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from kbtool.journal.journal import journal_path
from tests.conftest import Kb, build_base
from tests.knowledge.test_rewriting import HEAD, rows
from tests.terminals import terminal

YEAR = (datetime.datetime.now(datetime.timezone.utc) - datetime.timedelta(days=120)).year
"""A year whose first months are among the last twelve."""

UNKNOWN = "ValueError: the gearbox {} of '/data/{}' grinds\n"


@pytest.fixture
def old(tmp_path: Path, make_entry: Callable[..., str]) -> Path:
    """A base whose entries have come into the years: one misleads, one has a long table, two are the same fault."""
    misleading = make_entry(title="Misleads", symptom="RuntimeError: clutch slips on start")
    long = make_entry(title="Long", symptom="RuntimeError: brake squeals in rain")
    twin = "RuntimeError: {} lamp at the front left corner is dark after the night drive over gravel"
    entries = {
        "data/misleads": misleading,
        "data/long-table": long + HEAD + rows(120, verdicts=("confirmed", "refuted")).replace("2026-", f"{YEAR}-"),
        "data/lamp-dark": make_entry(title="Lamp", symptom=twin.format("the")),
        "data/lamp-also-dark": make_entry(title="Lamp too", symptom=twin.format("another"), root_cause="The bulb broke. It is old."),
    }
    root = build_base(tmp_path / "base" / "entries", entries)
    from kbtool.knowledge.entry import read_entry

    for name in ("misleads", "long-table"):
        path = root / "data" / f"{name}.md"
        check = read_entry(path, "data").check
        assert check is not None
        text = path.read_text(encoding="utf-8") + (HEAD + rows(3, verdicts=("refuted",)) if name == "misleads" else "")
        path.write_text(text.replace("aaaaaaaa", check.digest), encoding="utf-8")
    return root


def findings(kb: Kb, base: Path, *options: str) -> dict[str, dict[str, object]]:
    """What is due, by kind (the first of each)."""
    answer = json.loads(kb("review", "--json", *options, entries=base).stdout)
    return {finding["kind"]: finding for finding in reversed(answer["findings"])}


def test_findings_with_their_reasons(kb: Kb, old: Path) -> None:
    """What is due comes with numbers, in the order of value, and nothing is written."""
    for number in range(3):
        kb("match", input=UNKNOWN.format(number, number), entries=old)
    before = {path: path.read_bytes() for path in old.rglob("*.md")}

    found = findings(kb, old)

    assert list(reversed(found)) == ["missing", "misleading", "duplicate", "common", "long"] or set(found) >= {"missing", "misleading", "duplicate", "long"}
    assert found["missing"]["count"] == 3
    assert found["missing"]["actions"] == ["add"]
    assert "refuted 3×" in str(found["misleading"]["reason"])
    assert {found["duplicate"]["id"], found["duplicate"]["other"]} == {"lamp-dark", "lamp-also-dark"}
    assert "120 outcome rows" in str(found["long"]["reason"])
    assert {path: path.read_bytes() for path in old.rglob("*.md")} == before


def test_a_missing_entry_that_was_added_is_due_no_more(kb: Kb, old: Path) -> None:
    """Misses that an entry answers by now are no finding."""
    for number in range(2):
        kb("match", input=UNKNOWN.format(number, number), entries=old)
    assert "missing" in findings(kb, old)

    kb("add", "--symptom", UNKNOWN.format(7, 7).strip(), "--root-cause", "Nobody changed the oil since winter.", "--verify", "test -e /nowhere", "--confirms", "exit zero", "--domain", "data", entries=old)

    assert "missing" not in findings(kb, old)


def test_check_tells_a_scheduled_job(kb: Kb, old: Path, base: Path) -> None:
    """`--check` exits 1 when something is due, 0 when nothing is; without it the exit is 0."""
    assert kb("review", "--check", entries=old).returncode == 1
    assert kb("review", entries=old).returncode == 0
    assert kb("review", "--check", "--only", "broken", entries=old).returncode == 0


def test_the_report_is_a_page(kb: Kb, old: Path) -> None:
    """The report has a section for each kind, a ready `kb add` for what is missing, and a chart."""
    for number in range(2):
        kb("match", input=UNKNOWN.format(number, number), entries=old)

    page = kb("review", "--report", entries=old).stdout

    assert page.startswith("# Review of 20")
    assert "## Missing (1)" in page
    assert "kb add --symptom 'ValueError: the gearbox" in page
    assert "## Near duplicates (1)" in page
    assert "█" in page


def test_a_broken_file_is_named(kb: Kb, old: Path) -> None:
    """A file that can not be read is a finding with its place, and hides no other."""
    (old / "data" / "not-an-entry.md").write_text("no title", encoding="utf-8")

    found = findings(kb, old)

    assert "not-an-entry.md:1" in str(found["broken"]["reason"])
    assert "misleading" in found


def test_an_unknown_kind_is_an_error(kb: Kb, old: Path) -> None:
    """`--only` names the kinds there are."""
    done = kb("review", "--only", "nonsense", entries=old)

    assert done.returncode == 2
    assert "misleading" in done.stderr


def test_one_key_decides_each_and_leaving_keeps_what_was_decided(kb: Kb, old: Path, tmp_path: Path) -> None:
    """Retire, merge, put off and fold by one key each; quitting keeps the decisions, and the next review goes on there."""
    with terminal("review", "--only", "misleading", cwd=tmp_path, entries=old) as screen:
        screen.expect("misleads")
        screen.expect("r: retire")
        screen.type("x")
        screen.expect("r: retire")
        screen.type("r")
        screen.expect("retired:")
        assert screen.end() == 0
    with terminal("review", "--only", "duplicate", cwd=tmp_path, entries=old) as screen:
        screen.expect("m: merge")
        screen.type("m")
        screen.expect("merged:")
        assert screen.end() == 0
    with terminal("review", "--only", "long", cwd=tmp_path, entries=old) as screen:
        screen.expect("f: fold")
        screen.type("q")
        screen.expect("goes on here")
        assert screen.end() == 0
    with terminal("review", "--only", "long", cwd=tmp_path, entries=old) as screen:
        screen.expect("f: fold")
        screen.type("f")
        screen.expect("68 rows folded")
        assert screen.end() == 0
    with terminal("review", "--only", "common", cwd=tmp_path, entries=old) as screen:
        screen.expect("later]")
        screen.type("")
        assert screen.end() == 0

    assert "status: retired" in (old / "data" / "misleads.md").read_text(encoding="utf-8")
    assert len(list((old / "data").glob("lamp*.md"))) == 1
    answer = json.loads(kb("review", "--json", entries=old).stdout)
    assert (answer["kinds"]["misleading"], answer["kinds"]["duplicate"], answer["kinds"]["long"], answer["kinds"]["common"]) == (0, 0, 0, 0)
    assert answer["resting"] == 1


def test_retire_and_bring_back(kb: Kb, base: Path) -> None:
    """A retired entry is no answer any more, with its reason noted; `--undo` brings it back with a one-line change."""
    path = base / "data" / "disk-full.md"
    before = path.read_text(encoding="utf-8")
    log = "OSError: [Errno 28] No space left on device\n"
    assert kb("match", input=log, entries=base).returncode == 0

    done = kb("retire", "disk-full", "--reason", "disks are large now", entries=base)

    assert done.returncode == 0, done.stderr
    assert kb("match", input=log, entries=base).returncode == 1
    assert kb("match", "--all", input=log, entries=base).returncode == 0
    assert "disks are large now" in path.read_text(encoding="utf-8")
    kb("retire", "--undo", "disk-full", entries=base)
    assert kb("match", input=log, entries=base).returncode == 0
    assert path.read_text(encoding="utf-8").split("\n## Notes")[0].strip() == before.strip()


def test_a_shipped_entry_is_retired_in_a_copy(kb: Kb, own_world: Path) -> None:
    """A shipped entry stays as it is; the user's own base gets a retired copy."""
    listed = json.loads(kb("list", "--json").stdout)
    shipped = next(row for row in listed if row["layer"] == "shipped")
    before = Path(shipped["path"]).read_bytes()

    done = kb("retire", shipped["id"])

    assert done.returncode == 0, done.stderr
    assert Path(shipped["path"]).read_bytes() == before
    copy = own_world / "data" / "kb" / "entries" / shipped["domain"] / f"{shipped['id']}.md"
    assert "status: retired" in copy.read_text(encoding="utf-8")


def test_merge_and_rename_take_the_history_along(kb: Kb, old: Path) -> None:
    """After a merge and a rename, matches and the journal speak of the entry that is left."""
    kb("match", input="RuntimeError: another lamp at the front left corner is dark after the night drive over gravel\n", entries=old)

    merged = kb("merge", "lamp-also-dark", "lamp-dark", entries=old)
    renamed = kb("rename", "lamp-dark", "front-lamp", "--domain", "model", entries=old)

    assert (merged.returncode, renamed.returncode) == (0, 0), merged.stderr + renamed.stderr
    text = (old / "model" / "front-lamp.md").read_text(encoding="utf-8")
    assert text.count("```text") == 2
    assert "The bulb broke." in text
    answer = json.loads(kb("match", "--json", input="RuntimeError: another lamp at the front left corner is dark after the night drive over gravel\n", entries=old).stdout)
    assert [match["id"] for match in answer["matches"]][:1] == ["front-lamp"]
    assert '"lamp-also-dark"' not in kb("tree", "--json", entries=old).stdout
    with sqlite3.connect(journal_path()) as journal:
        assert journal.execute("select entry, sum(first) from months group by 1").fetchall() == [("front-lamp", 2)]
    assert kb("lint", entries=old).returncode == 0


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("merge", "lamp-dark", "lamp-dark"), "into itself"),
        (("merge", "lamp-dark", "no-such"), "no entry has the id"),
        (("rename", "lamp-dark"), "nothing to do"),
        (("rename", "lamp-dark", "lamp-also-dark"), "is taken"),
        (("rename", "lamp-dark", "../x"), "is no id"),
        (("retire", "lamp-drak"), "did you mean"),
    ],
)
def test_changes_that_make_no_sense_are_refused(kb: Kb, old: Path, arguments: tuple[str, ...], said: str) -> None:
    """Each refusal says why, and no file changes."""
    before = {path: path.read_bytes() for path in old.rglob("*.md")}

    done = kb(*arguments, entries=old)

    assert done.returncode == 2
    assert said in done.stderr
    assert {path: path.read_bytes() for path in old.rglob("*.md")} == before


def editor(tmp_path: Path, old: str, new: str) -> dict[str, str]:
    """An editor that replaces one text by another."""
    script = tmp_path / "editor.py"
    script.write_text(f"import sys\np = sys.argv[-1]\nt = open(p, newline='').read().replace({old!r}, {new!r})\nopen(p, 'w', newline='').write(t)\n", encoding="utf-8")
    return {"EDITOR": f"{sys.executable} {script}", "VISUAL": ""}


def test_edit_takes_over_what_is_an_entry(kb: Kb, base: Path, tmp_path: Path) -> None:
    """An edited entry takes the old one's place; a new check has to be allowed again; an unchanged one writes nothing."""
    path = base / "data" / "disk-full.md"
    stamp = path.stat().st_mtime_ns

    unchanged = kb("edit", "disk-full", entries=base, env=editor(tmp_path, "a", "a"))
    prose = kb("edit", "disk-full", entries=base, env=editor(tmp_path, "Move the cache.", "Clean the cache."))
    check = kb("edit", "disk-full", entries=base, env=editor(tmp_path, "```sh\ntrue", "```sh\ntest -e /"))

    assert "nothing was changed" in unchanged.stderr
    assert (prose.returncode, check.returncode) == (0, 0)
    assert "kb allow" not in prose.stderr
    assert "`kb allow disk-full`" in check.stderr
    text = path.read_text(encoding="utf-8")
    assert "Clean the cache." in text
    assert "test -e /" in text
    assert path.stat().st_mtime_ns != stamp


def test_a_broken_edit_changes_nothing_and_is_kept(kb: Kb, base: Path, tmp_path: Path) -> None:
    """What is no entry any more never takes the entry's place; the text stays where the message says."""
    before = (base / "data" / "disk-full.md").read_bytes()

    done = kb("edit", "disk-full", entries=base, env=editor(tmp_path, "## Symptom", "## Other"))

    assert done.returncode == 2
    assert "Symptom" in done.stderr
    kept = Path(done.stderr.split("is kept in ")[1].strip())
    assert "## Other" in kept.read_text(encoding="utf-8")
    assert (base / "data" / "disk-full.md").read_bytes() == before


def test_the_tree_shows_what_happened(kb: Kb, old: Path) -> None:
    """The tree counts what the journal and the outcomes know, names the busiest branch, and is drawn in each form."""
    for _ in range(2):
        kb("match", input="RuntimeError: clutch slips on start\n", entries=old)

    text = kb("tree", entries=old).stdout
    tree = json.loads(kb("tree", "--json", entries=old).stdout)

    assert "├─" in text
    assert "misleads  2 incidents" in text
    assert tree["tree"]["incidents"] >= 62
    assert kb("tree", "--format", "mermaid", entries=old).stdout.startswith("graph LR")
    assert kb("tree", "--format", "dot", entries=old).stdout.startswith("digraph")
    assert kb("tree", "--format", "svg", entries=old).stdout.startswith("<svg")

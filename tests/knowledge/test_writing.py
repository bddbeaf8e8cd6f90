"""Changes to entries: inserted lines only, in whatever shape the file is, and a refusal that leaves it as it was."""

from __future__ import annotations

import difflib
import errno
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kbtool import durable
from kbtool.errors import KbError, RefusedError
from kbtool.knowledge import headings, writing
from kbtool.knowledge.document import split_lines
from kbtool.knowledge.entry import parse_entry, read_entry
from kbtool.knowledge.layers import Base
from kbtool.knowledge.problems import EntryError
from kbtool.model import Outcome, Verdict
from tests.conftest import ENTRY, build_base

ROW = Outcome("2026-11-30 16:20Z", Verdict.CONFIRMED, "0" * 8, 0, 0.012, "linux · py3.11", "stdout: 1 | 2")

NASTY = {
    "plain": lambda t: t,
    "CRLF": lambda t: t.replace("\n", "\r\n"),
    "lone CR": lambda t: t.replace("\n", "\r"),
    "BOM": lambda t: "\ufeff" + t,
    "no final newline": lambda t: t.rstrip("\n"),
    "many final newlines": lambda t: t + "\n\n\n",
    "mixed endings": lambda t: t.replace("\n\n", "\r\n\n"),
    "tabs and trailing blanks": lambda t: t.replace("Move the cache.", "Move\tthe cache.  \n\tindented"),
    "comments in front matter": lambda t: t.replace("status: active", "# why\nstatus: active   # because"),
    "quoted values": lambda t: t.replace("status: active", "status: 'active'").replace("exit zero", '"exit zero"'),
    "quoted keys": lambda t: t.replace("status:", '"status":'),
    "flow list over lines": lambda t: t.replace("tags: [data]", "tags: [data,\n  other,\n]"),
    "no front matter": lambda t: t.split("---\n", 2)[2],
    "rule in the body": lambda t: t.replace("## Fix", "---\n\n## Fix"),
    "front matter like text in a fence": lambda t: t.replace("No space left on device", "No space\n---\nstatus: x\n---"),
    "wide characters": lambda t: t.replace("Move", "移动 \U0001f680 Move"),
    "line separators": lambda t: t.replace("Move", "Mo\u2028ve\x0b\x0c\x85"),
    "other sections after": lambda t: t + "\n## Notes\n\nkeep *this*\n",
    "outcomes already": lambda t: t + "\n## Outcomes\n\n| When | Outcome |\n| --- | --- |\n| 2026-01-01 00:00Z | refuted |\n",
    "outcomes without table": lambda t: t + "\n## Outcomes\n\nnone yet\n",
    "outcomes before notes": lambda t: (
        t + "\n## Outcomes\n\n| When | Outcome | Check | Exit | Time | Environment | Note |\n|---|---|---|---|---|---|---|\n\n## Notes\n\nx\n"
    ),
    "outcomes at once after heading": lambda t: t + "\n## Outcomes\n| When | Outcome |\n|---|---|\n## Notes\n",
    "a table in notes": lambda t: t + "\n## Notes\n\n| a | b |\n|---|---|\n| 1 | 2 |\n",
    "html comment": lambda t: t + "\n<!-- closed -->\n",
    "nested list at the end": lambda t: t + "\n- a\n  - b\n",
    "indented code at the end": lambda t: t + "\n    code\n",
    "quoted text at the end": lambda t: t + "\n> quoted\n",
    "Chinese headings": lambda t: t.replace("## Symptom", "## 故障现象").replace("## Fix", "## 修复"),
    "tilde fences": lambda t: t.replace("```", "~~~"),
    "trailing spaces after headings": lambda t: t.replace("## Fix", "## Fix   "),
}


def place(tmp_path: Path, text: str) -> Path:
    root = build_base(tmp_path / "entries", {"data/disk-full": text})
    return root / "data" / "disk-full.md"


def digest_of(path: Path) -> str:
    check = read_entry(path, "data").check
    assert check is not None
    return check.digest


def test_leftovers_are_swept_only_while_nobody_writes(tmp_path: Path, make_entry: Callable[..., str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Temporary files are swept under the base's lock: another writer's is never taken for an old one, whatever a file server's clock says."""
    path, held = place(tmp_path, make_entry()), []

    def sweep(folder: Path) -> None:
        with pytest.raises(KbError), durable.locked(folder.parent, deadline=0.05):
            pass
        held.append(folder)

    monkeypatch.setattr(writing, "sweep_leftovers", sweep)
    writing.append_outcome(path, ROW, expect_check=digest_of(path))

    assert held == [path.parent]


@pytest.mark.parametrize("name", NASTY)
def test_recording_inserts_lines_only(name: str, tmp_path: Path, make_entry: Callable[..., str]) -> None:
    """After two outcomes the old bytes are all there, in order, and the rest is the inserted lines."""
    path = place(tmp_path, NASTY[name](make_entry()))
    before = path.read_bytes()
    rows = len(read_entry(path, "data").outcomes)
    outcome = ROW._replace(check=digest_of(path))

    writing.append_outcome(path, outcome, expect_check=outcome.check)
    entry = writing.append_outcome(path, outcome, expect_check=outcome.check)

    after = path.read_bytes()
    assert [outcome] * 2 == list(entry.outcomes[rows:])
    for tag, start, end, _, _ in difflib.SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        assert tag in ("equal", "insert"), before[start:end]


@pytest.mark.parametrize("name", NASTY)
def test_a_new_wording_inserts_lines_only(name: str, tmp_path: Path, make_entry: Callable[..., str]) -> None:
    """A fence added to Symptom or Not this leaves every old byte in place."""
    path = place(tmp_path, NASTY[name](make_entry()))
    before = split_lines(path.read_bytes())

    entry = writing.add_fence(path, headings.SYMPTOM, "another ``` wording\nin two lines")
    entry = writing.add_fence(path, headings.NOT_THIS, "something else")

    assert entry.symptoms[-1] == "another ``` wording\nin two lines"
    assert entry.not_this == ("something else",)
    left = iter(split_lines(path.read_bytes()))
    assert all(any(line.rstrip(b"\r\n") == old.rstrip(b"\r\n") for line in left) for old in before)


def test_set_value_keeps_the_rest(tmp_path: Path, make_entry: Callable[..., str]) -> None:
    """One value changes in its line, comments and neighbours stay; None removes the key, a new key goes last."""
    path = place(tmp_path, make_entry().replace("status: active", "status: 'active'   # since May"))

    writing.set_value(path, "status", "retired")
    writing.set_value(path, "family", "disk: full")
    writing.set_value(path, "created", None)

    front = path.read_text(encoding="utf-8").split("---\n")[1]
    assert front == 'tags: [data]\nconfirms: exit zero\nstatus: retired   # since May\nfamily: "disk: full"\n'


def test_set_value_refuses_what_the_schema_does(tmp_path: Path, make_entry: Callable[..., str]) -> None:
    """A value that lint would refuse is not written."""
    path = place(tmp_path, make_entry())
    before = path.read_bytes()

    with pytest.raises(KbError, match="none of draft, active, retired"):
        writing.set_value(path, "status", "dead")

    assert path.read_bytes() == before


def test_a_changed_check_refuses_the_outcome(tmp_path: Path, make_entry: Callable[..., str]) -> None:
    """An outcome of a check that no longer stands in the file is refused, and the file stays as it is."""
    path = place(tmp_path, make_entry(verify="false"))
    before = path.read_bytes()

    with pytest.raises(RefusedError, match="the check changed since it ran"):
        writing.append_outcome(path, ROW, expect_check="00000000")

    assert path.read_bytes() == before


@pytest.mark.parametrize("ending", ["\n```text\nnever closed\n", "\n<!-- never closed\n", "\n<script>\n"])
def test_what_would_swallow_the_row_refuses_it(ending: str, tmp_path: Path, make_entry: Callable[..., str]) -> None:
    """Where an unclosed block would swallow the new section, nothing is written."""
    path = place(tmp_path, make_entry() + ending)
    before = path.read_bytes()

    with pytest.raises(RefusedError, match="does not fit"):
        writing.append_outcome(path, ROW._replace(check=digest_of(path)), expect_check=digest_of(path))

    assert path.read_bytes() == before


def test_a_person_saving_meanwhile_loses_nothing(tmp_path: Path, make_entry: Callable[..., str], monkeypatch: pytest.MonkeyPatch) -> None:
    """When the file is saved between reading and replacing, the outcome is put into the person's new version."""
    path = place(tmp_path, make_entry())
    real, edits = writing.write_atomically, iter(["Move the cache at once.", None])

    def saving_first(target: Path, data: bytes, **rest: object) -> None:
        if (edit := next(edits, None)) is not None:
            path.write_bytes(path.read_bytes().replace(b"Move the cache.", edit.encode()))
        real(target, data, **rest)

    monkeypatch.setattr(writing, "write_atomically", saving_first)
    entry = writing.append_outcome(path, ROW._replace(check=digest_of(path)), expect_check=digest_of(path))

    assert entry.fix == "Move the cache at once."
    assert len(entry.outcomes) == 1


@pytest.mark.parametrize("call", ["fsync", "replace", "fchmod"])
@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EIO, errno.EDQUOT])
def test_a_full_disk_leaves_the_old_bytes(
    call: str, number: int, tmp_path: Path, make_entry: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whichever call the disk refuses, the file holds its old bytes and no temporary file stays."""
    path = place(tmp_path, make_entry())
    before = path.read_bytes()
    check = digest_of(path)

    def refuse(*_: object, **__: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(durable.os, call, refuse)
    with pytest.raises(OSError, match=os.strerror(number)):
        writing.append_outcome(path, ROW._replace(check=check), expect_check=check)
    monkeypatch.undo()

    assert path.read_bytes() == before
    assert sorted(item.name for item in path.parent.iterdir()) == ["README.md", "disk-full.md"]


def test_the_order_of_a_durable_write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The file is synced before it is renamed, and the folder after."""
    calls: list[str] = []
    real = {name: getattr(os, name) for name in ("fsync", "replace")}

    def recording(name: str) -> Callable[..., object]:
        def call(*arguments: object) -> object:
            is_folder = name == "fsync" and os.path.isdir(f"/proc/self/fd/{arguments[0]}")
            calls.append(name + " folder" * is_folder)
            return real[name](*arguments)

        return call

    for name in real:
        monkeypatch.setattr(durable.os, name, recording(name))
    durable.write_atomically(tmp_path / "file", b"data")

    assert calls == ["fsync", "replace", "fsync folder"]


def test_ranks_of_one_job_share_a_row(tmp_path: Path, make_entry: Callable[..., str]) -> None:
    """An outcome that the newest row recognises as its own raises that row's count; another verdict makes a new row."""
    path = place(tmp_path, make_entry())
    outcome = ROW._replace(check=digest_of(path), note="job 7")
    for verdict in (Verdict.CONFIRMED, Verdict.CONFIRMED, Verdict.REFUTED, Verdict.REFUTED):
        row = outcome._replace(verdict=verdict)
        writing.append_outcome(path, row, expect_check=row.check, folds_into=lambda last: last.note == "job 7")

    assert [(o.verdict, o.count) for o in read_entry(path, "data").outcomes] == [(Verdict.CONFIRMED, 2), (Verdict.REFUTED, 2)]


BAD_IDS = ["../escape", "/absolute", "a/b", "a\\b", "..", ".", "", "a\0b", "x" * 300, "CON", "Disk-Full", "-rf", ".hidden", "a b", "a\nb", "über-id", "a%2fb"]


@pytest.mark.parametrize("entry_id", BAD_IDS)
@pytest.mark.parametrize("as_domain", [False, True])
def test_ids_can_not_leave_the_base(entry_id: str, as_domain: bool, tmp_path: Path, make_entry: Callable[..., str]) -> None:
    """No id or domain creates anything outside the base, or anything at all when it is no plain name."""
    root = build_base(tmp_path / "entries", {"data/disk-full": make_entry()})
    before = sorted(tmp_path.rglob("*"))

    with pytest.raises(KbError):
        writing.create_entry(Base(root, "project", True), entry_id if as_domain else "data", "fine-id" if as_domain else entry_id, make_entry())

    assert sorted(tmp_path.rglob("*")) == before


def test_a_linked_domain_folder_is_refused(tmp_path: Path, make_entry: Callable[..., str]) -> None:
    """A domain folder that is a symbolic link out of the base receives nothing."""
    root = build_base(tmp_path / "entries", {"data/disk-full": make_entry()})
    (tmp_path / "outside").mkdir()
    (root / "model").symlink_to(tmp_path / "outside")

    with pytest.raises(KbError, match="outside the base"):
        writing.create_entry(Base(root, "project", True), "model", "fine-id", make_entry())

    assert list((tmp_path / "outside").iterdir()) == []


def test_a_taken_id_is_refused_over_domains(tmp_path: Path, make_entry: Callable[..., str]) -> None:
    """An id is unique over all domains of a base."""
    base = Base(build_base(tmp_path / "entries", {"data/disk-full": make_entry()}), "project", True)

    with pytest.raises(KbError, match="is taken"):
        writing.create_entry(base, "model", "disk-full", make_entry())
    with pytest.raises(EntryError):
        writing.create_entry(base, "model", "no-entry", "# only a title\n")


notes = st.text(alphabet=st.characters(codec="utf-8", exclude_categories=("Cs",)), max_size=80)


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(note=notes, prose=notes, environment=notes)
def test_any_note_round_trips_or_is_refused(note: str, prose: str, environment: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Whatever a check printed and a person wrote, the row reads back as the same verdict and nothing else changes."""
    text = ENTRY.format(domain="data", confirms="exit zero", title="T", symptom="s", root_cause="r", verify="true", fix="f")
    data = (text + "\n## Notes\n\n" + prose + "\n").encode("utf-8")
    root = build_base(tmp_path_factory.mktemp("note") / "entries", {"data/disk-full": text})
    path = root / "data" / "disk-full.md"
    path.write_bytes(data)
    try:
        before = parse_entry(data, path=path, domain="data")
        check = before.check.digest if before.check else ""
        entry = writing.append_outcome(path, ROW._replace(check=check, note=note, environment=environment), expect_check=check)
    except (RefusedError, EntryError):
        assert path.read_bytes() == data
        return

    assert [o.verdict for o in entry.outcomes] == [Verdict.CONFIRMED]
    assert entry._replace(outcomes=()) == before._replace(outcomes=())

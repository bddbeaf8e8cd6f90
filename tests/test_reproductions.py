"""Every shipped entry is proven: its fault is met for real, its output finds it, and its check tells faulty from mended."""

from __future__ import annotations

import json
import re
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kbtool.knowledge.entry import read_entry
from kbtool.knowledge.layers import Base
from kbtool.matching.answer import answer_text
from kbtool.matching.index import Index, open_index
from kbtool.model import Entry
from kbtool.verification.consent import Consent
from kbtool.verification.run import request_for

ROOT = Path(__file__).resolve().parents[1]
ENTRIES = ROOT / "entries"
REPRODUCTIONS = ROOT / "tests" / "reproductions"


sys.path.insert(0, str(REPRODUCTIONS))
import stage  # noqa: E402  (lies beside the scripts, so that they can be run by hand)

FOLDERS = sorted(folder for folder in REPRODUCTIONS.iterdir() if (folder / "faulty.py").exists())


def cases() -> list[Any]:
    """One case for each reproduction; those that need something heavy are marked."""
    return [pytest.param(folder, id=folder.name, marks=[pytest.mark.slow] if "slow" in stage.needs(folder) else []) for folder in FOLDERS]


def entry_of(folder: Path) -> Entry:
    """The entry that the reproduction proves."""
    path = next(ENTRIES.glob(f"*/{folder.name}.md"))
    return read_entry(path, path.parent.name)


def tells(entry: Entry, output: str) -> bool:
    """Whether the last line of one of the entry's symptoms is in the output, whatever numbers and paths stand in it."""
    return any(_pattern(symptom.splitlines()[-1].strip()).search(output) for symptom in entry.symptoms)


def _pattern(line: str) -> re.Pattern[str]:
    return re.compile(r"[^\s'\"]+".join(map(re.escape, re.split(r"/[^\s'\"]+|\d+", line))))


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    """The index of the shipped entries, built once, in a cache of its own."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        opened = open_index([Base(ENTRIES, "given", False)])
        yield opened
        opened.close()


def unhurried(text: str) -> str:
    """The entry with time enough for its check on a crowded machine."""
    return re.sub(r"^timeout: .*\n", "", text, count=1, flags=re.MULTILINE).replace("\nstatus:", "\ntimeout: 100s\nstatus:", 1)


def verdict_of(on: Any, entry: Entry) -> str:
    """Verdict and reason of the entry's check, run by `kb verify` on the stage; a Python check has spoken already."""
    if entry.check.language == "python":
        return on.verdict_file.read_text() if on.verdict_file.exists() else "inconclusive no verdict was written"
    base = on.job.parent / "base" / "entries"
    if not base.exists():
        (base / entry.domain).mkdir(parents=True)
        (base / entry.domain / entry.path.name).write_text(unhurried(entry.path.read_text(encoding="utf-8")), encoding="utf-8")
        shutil.copy(entry.path.parent / "README.md", base / entry.domain)
    here = read_entry(base / entry.domain / entry.path.name, entry.domain)
    Consent(on.job.parent / "state" / "kb" / "consent").allow(request_for(here))
    ran = on.run([sys.executable, "-m", "kbtool", "--entries", str(base), "verify", entry.id, "--json"])
    result = json.loads(ran.output[ran.output.index("[") :])[0]
    return f"{result['verdict']} {result['reason']}"


def run_script(on: Any, entry: Entry) -> Any:
    """Run the script once; a Python check is evaluated where it ends."""
    expression = f"{entry.check.confirms} {entry.check.command}" if entry.check.language == "python" else None
    return on.run_script(expression=expression)


@pytest.mark.parametrize("folder", cases())
def test_entry_is_proven(folder: Path, index: Index) -> None:
    """The faulty script's real output brings the entry first and its check confirms; the mended one ends well and its check refutes."""
    reason = stage.unmet(folder)
    if reason:
        pytest.skip(reason)
    entry = entry_of(folder)
    words = folder / "words.txt"

    with stage.stage(folder, "faulty") as on:
        said = run_script(on, entry).output + (words.read_text(encoding="utf-8") if words.exists() else "")
        assert tells(entry, said), said
        assert [match.id for match in answer_text(said, index).matches[:1]] == [entry.id]
        verdict = verdict_of(on, entry)
        assert verdict.startswith("confirmed"), verdict
    with stage.stage(folder, "mended") as on:
        mended = run_script(on, entry)
        assert mended.exit_code == 0, mended.output
        assert not tells(entry, mended.output), mended.output
        verdict = verdict_of(on, entry)
        assert verdict.startswith("refuted"), verdict


def test_every_reproduction_has_its_entry() -> None:
    """No reproduction is left without the entry that it proves."""
    ids = {path.stem for path in ENTRIES.glob("*/*.md") if path.name != "README.md"}
    assert [folder.name for folder in FOLDERS if folder.name not in ids] == []

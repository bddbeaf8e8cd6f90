"""Every shipped entry is proven: its fault is met for real, and its check tells the faulty surroundings from the mended ones."""

from __future__ import annotations

import importlib.util
import re
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[1]
REPRODUCTIONS = ROOT / "tests" / "reproductions"


def load_stage() -> ModuleType:
    """The stage module lies beside the scripts, so that they can be run by hand; it is loaded by its path."""
    spec = importlib.util.spec_from_file_location("kb_stage", REPRODUCTIONS / "stage.py")
    assert spec and spec.loader
    module = sys.modules["kb_stage"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


stage = load_stage()
FOLDERS = sorted(folder for folder in REPRODUCTIONS.iterdir() if (folder / "faulty.py").exists())


def cases() -> list[object]:
    """One case for each reproduction; those that need something heavy are marked."""
    return [pytest.param(folder, id=folder.name, marks=[pytest.mark.slow] if "slow" in stage.needs(folder) else []) for folder in FOLDERS]


def telling_line(entry: Path) -> re.Pattern[str]:
    """The last line of the first symptom fence, with any number or path in the place of a number or path."""
    fence = re.search(r"## Symptom\n\n(`{3,}|~{3,})\w*\n(.*?)\n\1", entry.read_text(encoding="utf-8"), re.DOTALL)
    assert fence
    fixed = re.split(r"/[^\s'\"]+|\d+", fence[2].splitlines()[-1].strip())
    return re.compile(r"[^\s'\"]+".join(map(re.escape, fixed)))


@pytest.mark.parametrize("folder", cases())
def test_the_fault_is_met_and_the_fix_mends_it(folder: Path) -> None:
    """The faulty script prints what the entry's symptom says, the mended one ends well without it."""
    reason = stage.unmet(folder)
    if reason:
        pytest.skip(reason)
    entry = next((ROOT / "entries").glob(f"*/{folder.name}.md"))
    words = folder / "words.txt"

    with stage.stage(folder, "faulty") as on:
        faulty = on.run_script()
        said = faulty.output + (words.read_text(encoding="utf-8") if words.exists() else "")
        assert telling_line(entry).search(said), said
    with stage.stage(folder, "mended") as on:
        mended = on.run_script()
        assert mended.exit_code == 0, mended.output
        assert not telling_line(entry).search(mended.output), mended.output

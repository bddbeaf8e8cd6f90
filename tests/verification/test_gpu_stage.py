"""The stage for real GPUs works before there is one: reproductions are found, run, judged and told in one line each."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def drive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The driver, looking at reproductions and entries of the test."""
    spec = importlib.util.spec_from_file_location("kb_gpu_drive", ROOT / "tests" / "gpu" / "drive.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "kb_gpu_drive", module)
    spec.loader.exec_module(module)
    (tmp_path / "gpu").mkdir()
    (tmp_path / "entries" / "training").mkdir(parents=True)
    monkeypatch.setattr(module, "HERE", tmp_path / "gpu")
    monkeypatch.setattr(module, "ROOT", tmp_path)
    monkeypatch.setattr(module, "machine", lambda: "on    a test")
    monkeypatch.setattr(module, "has_gpu", lambda: True)
    monkeypatch.setattr(module, "not_matched_first", lambda folder, ran: "")
    return module


def reproduction(root: Path, name: str, faulty: str, mended: str = "", check: str = "") -> None:
    """A reproduction and its entry, whose symptom is `CUDA error 700 at x`."""
    folder = root / "gpu" / name
    folder.mkdir()
    for file, text in (("faulty.py", faulty), ("mended.py", mended), ("check", check)):
        if text:
            (folder / file).write_text(text)
    (root / "entries" / "training" / f"{name}.md").write_text("# t\n\n## Symptom\n\n```text\nfirst\nCUDA error 700 at x\n```\n\n## Fix\n")


def test_each_reproduction_is_one_line(drive: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Met, mended and told apart is ok; a symptom that was not met, a wrong verdict and a script that hangs fail with the reason."""
    meets, check = "print('CUDA error 4 at x'); raise SystemExit(1)", 'grep -q "CUDA error" output.txt'
    reproduction(tmp_path, "good-one", meets, "print('fine')", check)
    reproduction(tmp_path, "not-met", "print('something else')")
    reproduction(tmp_path, "wrong-check", meets, "print('fine')", "exit 1")
    reproduction(tmp_path, "hangs", "print('CUDA error 4 at x', flush=True)\nimport time; time.sleep(600)", "import time; time.sleep(600)")
    (tmp_path / "gpu" / "hangs" / "seconds").write_text("2")

    assert drive.main([]) == 3

    lines = {line.split()[1]: line for line in capsys.readouterr().out.splitlines()[1:]}
    assert lines["good-one"].startswith("ok") and "mended: exit 0" in lines["good-one"]
    assert "the symptom was not met" in lines["not-met"]
    assert "after faulty.py the check said refuted" in lines["wrong-check"]
    assert "the mended script ended with None" in lines["hangs"]


def test_time_that_is_up_is_said(drive: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """What no longer fits into the four minutes is named and not run."""
    monkeypatch.setattr(drive, "TOTAL_SECONDS", 1.0)
    reproduction(tmp_path, "late-one", "print('CUDA error 4 at x')")

    assert drive.main([]) == 0
    assert "left  late-one" in capsys.readouterr().out


def test_without_a_gpu_it_says_so() -> None:
    """The real command on a machine without a GPU, or without torch, is a sentence and no failure."""
    done = subprocess.run([ROOT / "tests" / "gpu" / "run"], capture_output=True, text=True, timeout=300, env={**os.environ, "CUDA_VISIBLE_DEVICES": ""}, check=False)

    assert done.returncode == 0, done
    assert "skip" in done.stdout

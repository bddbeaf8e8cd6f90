"""The program that fits the weights: it runs on any folder of labelled cases, and prints figures and weights."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = Path(__file__).resolve().parents[2] / "benchmarks" / "fit_weights.py"
WORDS = ("zebra", "giraffe", "walrus", "heron", "badger", "lynx")


def cause(word: str) -> str:
    """A cause with three cases."""
    cases = "".join(f"  - source: made up {number}\n    text: 'RuntimeError: the {word} kernel refused block {number} of the tensor'\n" for number in range(3))
    return (
        f"slug: {word}-refuses\ndomain: model\ntitle: The {word} kernel refuses blocks\nsymptom: 'RuntimeError: the {word} kernel refused block 7'\n"
        f"root_cause: The {word} kernel takes even blocks only.\nverify: 'true'\nfix: Pad the block.\ncases:\n{cases}"
    )


def test_weights_are_fitted_to_any_cases(tmp_path: Path) -> None:
    """Figures of the shipped weights and of fitted ones on causes they have not seen, and both sets of weights."""
    pytest.importorskip("numpy")
    for word in WORDS:
        (tmp_path / f"{word}.yaml").write_text(cause(word))
    (tmp_path / "near.yaml").write_text("- source: made up\n  looks_like: zebra-refuses\n  text: 'RuntimeError: the zebra crossing refused cars'\n")

    done = subprocess.run([sys.executable, PROGRAM, "--cases", tmp_path, "--learn", "--folds", "3", "--repeats", "1"], capture_output=True, text=True)

    assert done.returncode == 0, done.stderr
    assert "shipped weights            first 1.0000" in done.stdout
    assert "fitted without the cause" in done.stdout
    assert all(name in done.stdout for name in ("explained", "salient_missing", "frames_elsewhere", "bias"))

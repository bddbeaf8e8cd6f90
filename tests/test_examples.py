"""The examples are real outputs, and each is answered with the entry that it is an example of."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[1]
EXAMPLES = sorted((ROOT / "examples").glob("*.txt"))
CAUSE = {"several-ranks": "label-out-of-range"}
"""Which entry an example shows, where its name does not say so."""


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_is_answered_first(example: Path, kb: Any) -> None:
    """`kb match` on an example names its entry first, from the first failure and not from the fallout."""
    done = kb("match", "--json", example, entries=ROOT / "entries")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["matches"][0]["id"] == CAUSE.get(example.stem, example.stem)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_names_no_machine(example: Path) -> None:
    """Paths in an example are neutral: nobody's home or workplace."""
    text = example.read_text(encoding="utf-8")
    assert [word for word in ("/root/", "/home/", "/work/", "kb-stage", "pyenv") if word in text] == []

"""kb eval: figures, floors, comparison, calibration."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kbtool.matching.calibrate import Sample, fit
from kbtool.matching.confidence import SHIPPED
from kbtool.matching.evaluation import Case, Judged, calibration_error, figures, missed_floors
from tests.conftest import Kb

CASES = """\
slug: disk-full
cases:
- source: one
  text: "OSError: [Errno 28] No space left on device"
- source: two
  text: "zlib.error: nothing like it at all"
"""
NEAR = "- source: three\n  looks_like: disk-full\n  why_not: a quota\n  text: 'OSError: [Errno 122] Disk quota exceeded'\n"
UNRELATED = "- source: four\n  text: 'a healthy day'\n"


@pytest.fixture
def cases(tmp_path: Path) -> Path:
    """A folder of labelled cases of all three kinds."""
    folder = tmp_path / "cases"
    folder.mkdir()
    for name, text in {"disk-full.yaml": CASES, "near.yaml": NEAR, "unrelated.yaml": UNRELATED}.items():
        (folder / name).write_text(text)
    return folder


def judged(kind: str, right: bool, score: float, strong: bool = False) -> Judged:
    """A judged case made up."""
    return Judged(Case(kind, "s", "t", frozenset({"a"})), "a" if right or score else None, score, strong, 1 if right else None)


def test_figures_mean_what_they_say() -> None:
    """Counted by hand."""
    given = [judged("case", True, 0.9, True), judged("case", True, 0.9), judged("case", False, 0.9, True), judged("near", False, 0.9, True), judged("unrelated", False, 0.0)]
    found = figures(given)

    assert (found.r1, found.strong, found.precision, found.near_strong, found.unrelated_answered) == (0.6667, 0.3333, 0.3333, 1.0, 0.0)
    assert calibration_error(given) == pytest.approx(0.4)


def test_floors_bound_from_the_right_side() -> None:
    """A share of right answers must not fall below its bound, a share of mistakes not rise above it."""
    found = figures([judged("case", True, 0.9, True), judged("near", False, 0.9, True)])

    assert missed_floors(found, {"r1": 1.0, "near_strong": 1.0}) == []
    assert len(missed_floors(found, {"precision": 0.9, "near_strong": 0.5})) == 2


def test_the_command_measures_compares_and_gates(kb: Kb, base: Path, cases: Path, tmp_path: Path) -> None:
    """Figures as text and JSON; exit 1 below a floor; changed cases named; a wrong figure or file is a sentence."""
    before = kb("eval", cases, "--json", entries=base)
    data = json.loads(before.stdout)
    (tmp_path / "before.json").write_text(before.stdout)
    kb("learn", "disk-full", "-", input="zlib.error: nothing like it at all", entries=base)
    compared = kb("eval", cases, "--compare", tmp_path / "before.json", "--floor", "r1=0.9", entries=base)

    assert before.returncode == 0
    assert data["figures"]["r1"] == 0.5 and data["figures"]["unrelated_answered"] == 0.0
    assert compared.returncode == 0 and "two: nothing → disk-full" in compared.stdout and "0.500 → 1.000" in compared.stdout
    assert kb("eval", cases, "--floor", "near_strong=-1", entries=base).returncode == 1
    assert "no figure" in kb("eval", cases, "--floor", "speed=1", entries=base).stderr
    assert kb("eval", tmp_path / "nowhere", entries=base).returncode == 2


def test_a_fit_follows_the_cases() -> None:
    """Where high ratings are mostly wrong, the fitted probability of one is lower than the shipped one, and the other way round."""
    names = dict.fromkeys(SHIPPED.weights, 0.0)
    values = {**names, "rating": 10.0, "lead": 3.0, "key_in_order": 1.0}
    for right in (True, False):
        fitted = fit([Sample(values, right) for _ in range(60)])
        shipped = SHIPPED.probability(values, 10.0, 3.0)
        assert (fitted.probability(values, 10.0, 3.0) > shipped) == right


def test_too_few_cases_calibrate_nothing(kb: Kb, base: Path, cases: Path) -> None:
    """Four cases are no ground for a calibration."""
    done = kb("eval", cases, "--calibrate", entries=base)

    assert done.returncode == 2 and "at least" in done.stderr

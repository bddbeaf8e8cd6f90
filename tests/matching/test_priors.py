"""Outcomes settle what the text leaves open, and nothing more."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from kbtool.matching.priors import MOST, factor
from kbtool.model import Tally
from tests.conftest import Kb, build_base

SYMPTOM = "OSError: [Errno 28] No space left on device"
LOG = f'Traceback (most recent call last):\n  File "train.py", line 3, in <module>\n    save()\n{SYMPTOM}\n'


@pytest.mark.parametrize(
    ("tally", "expected"),
    [(Tally(), 1.0), (Tally(inconclusive=9), 1.0), (Tally(confirmed=3), 2.0), (Tally(confirmed=999), MOST), (Tally(refuted=999), 1 / MOST), (Tally(2, 2), 1.0)],
)
def test_the_factor_is_bounded(tally: Tally, expected: float) -> None:
    """No outcomes change nothing; many move the odds by a bounded factor; inconclusive ones say nothing."""
    assert factor(tally) == expected


def test_rivals_are_ordered_by_their_outcomes(kb: Kb, tmp_path: Path, make_entry: Callable[..., str]) -> None:
    """Of two entries with one message the one that was confirmed comes first, whichever that is."""
    for confirmed, refuted in (("one-cause", "two-cause"), ("two-cause", "one-cause")):
        checks = {confirmed: "true", refuted: "false"}
        base = build_base(tmp_path / confirmed, {f"data/{name}": make_entry(symptom=SYMPTOM, verify=check) for name, check in checks.items()})
        kb("allow", *checks, entries=base)
        for _ in range(2):
            kb("verify", *checks, entries=base)

        matches = json.loads(kb("match", "--json", input=LOG, entries=base).stdout)["matches"]

        assert [match["id"] for match in matches] == [confirmed, refuted]


def test_a_match_warns_where_the_entry_does_not_apply(kb: Kb, tmp_path: Path, make_entry: Callable[..., str]) -> None:
    """With a fingerprint at hand, `applies_to` that does not fit is said and hides nothing."""
    text = make_entry(symptom=SYMPTOM).replace("status: active", "applies_to: [python<3.0]\nstatus: active")
    base = build_base(tmp_path / "entries", {"data/old-cause": text})
    assert "note:" not in kb("match", input=LOG, entries=base).stderr
    kb("env")

    done = kb("match", input=LOG, entries=base)

    assert done.returncode == 0 and "old-cause" in done.stdout
    assert "the entry applies to python<3.0, and here is python 3" in done.stderr

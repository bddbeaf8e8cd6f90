"""Triage: the four steps as state, and the rule that is held."""

from __future__ import annotations

import datetime
import subprocess
from pathlib import Path

import pytest

from kbtool.errors import KbError
from kbtool.model import Domain, Verdict
from kbtool.review.triage import (
    Anchor,
    Step,
    Triage,
    anchored,
    baseline,
    decided,
    from_json,
    located,
    minutes_since,
    supposed,
    to_json,
    uncommitted,
    with_checks,
)
from kbtool.verification.environment import Fingerprint

DOMAINS = [Domain("data", ("KeyError",), "Look at one sample."), Domain("distributed", ("NCCL", "watchdog timeout"), "Find the first rank.")]
FULL = Anchor("NCCL watchdog timeout on rank 3", "with two nodes, not with one", "torch 2.9")


def begun() -> Triage:
    """A triage whose anchor is written and whose domain is located."""
    return located(anchored(Triage(), FULL), DOMAINS)


def refuted(triage: Triage, count: int = 1) -> Triage:
    """The triage with that many more hypotheses refuted."""
    for number in range(count):
        triage = decided(supposed(triage, f"idea {number}", "true"), Verdict.REFUTED)
    return triage


def test_the_anchor_comes_first() -> None:
    """Without its three sentences no hypothesis is taken, and the missing ones are named."""
    started = anchored(Triage(), Anchor(observed="NCCL error"))

    assert started.step is Step.ANCHOR
    assert started.anchor.missing == ["condition", "environment"]
    with pytest.raises(KbError, match="condition, environment"):
        supposed(started, "the port is closed", "true")


def test_the_longest_keyword_locates_the_domain() -> None:
    """The decision table places the anchor; a person's choice wins; an unknown domain is refused."""
    assert begun().domain == "distributed"
    assert located(begun(), DOMAINS, "data").domain == "data"
    with pytest.raises(KbError, match="no domain"):
        located(begun(), DOMAINS, "kitchen")


def test_two_refutations_in_a_row_force_a_step_back() -> None:
    """The third hypothesis is refused until the anchor is another one; then it is taken again."""
    stuck = refuted(begun(), 2)
    assert stuck.step is Step.BACK
    with pytest.raises(KbError, match="step back"):
        supposed(stuck, "a third idea", "true")
    with pytest.raises(KbError, match="same as before"):
        anchored(stuck, FULL)

    again = located(anchored(stuck, Anchor(observed="KeyError: 'image' before the timeout")), DOMAINS)

    assert again.step is Step.VERIFY
    assert again.domain == "data"
    assert len(again.anchors) == 2
    assert again.refuted_in_a_row == 0
    assert supposed(again, "a third idea", "true").open_hypothesis is not None


def test_an_inconclusive_check_refutes_nothing() -> None:
    """Only refutations count, and a confirmation ends the row."""
    one = decided(supposed(refuted(begun()), "idea", "true"), Verdict.INCONCLUSIVE)
    assert one.refuted_in_a_row == 1
    confirmed = decided(supposed(one, "idea", "true"), Verdict.CONFIRMED)
    assert confirmed.refuted_in_a_row == 0
    assert confirmed.step is Step.CONVERGED


def test_one_hypothesis_at_a_time() -> None:
    """A second one waits until the first is decided, and nothing is decided that was not supposed."""
    one = supposed(begun(), "idea", "true")
    with pytest.raises(KbError, match="not decided yet"):
        supposed(one, "another", "true")
    with pytest.raises(KbError, match="no hypothesis"):
        decided(begun(), Verdict.REFUTED)


def test_checks_of_entries_count_too() -> None:
    """`kb verify` that refutes two entries in a row forces the step back as well."""
    after = with_checks(begun(), [(7, "one-entry", "refuted", "12 > 3"), (8, "two-entry", "refuted", "")])

    assert after.step is Step.BACK
    assert after.seen_verdict == 8
    assert after.hypotheses[0].check == "kb verify one-entry"


def test_the_state_comes_back_as_it_was() -> None:
    """State survives its storage; one that can not be read begins anew instead of failing."""
    state = refuted(begun())
    assert from_json(to_json(state)) == state
    assert from_json("{broken") == Triage()
    assert from_json('{"anchors": 3}') == Triage()


def test_the_baseline_names_what_matters_and_no_secret() -> None:
    """Variables of CUDA, NCCL and the like belong to the baseline; tokens and the rest do not."""
    told = baseline(Fingerprint(), {"CUDA_VISIBLE_DEVICES": "0,1", "NCCL_DEBUG": "INFO", "HF_HUB_TOKEN": "abc", "EDITOR": "vi", "RANK": "3"})

    assert "CUDA_VISIBLE_DEVICES=0,1; NCCL_DEBUG=INFO; RANK=3" in told
    assert "abc" not in told
    assert "EDITOR" not in told


def test_experiments_are_shown_not_undone(tmp_path: Path) -> None:
    """Uncommitted changes are listed; outside of a repository there are none; nothing is touched."""
    assert uncommitted(tmp_path) == []
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    (tmp_path / "train.py").write_text("x", encoding="utf-8")

    assert uncommitted(tmp_path) == ["?? train.py"]
    assert (tmp_path / "train.py").exists()


def test_the_clock() -> None:
    """Minutes since it began; an unreadable time is no time."""
    now = datetime.datetime(2026, 11, 30, 12, 30, tzinfo=datetime.timezone.utc)
    assert minutes_since("2026-11-30T12:00:00Z", now) == 30
    assert minutes_since("", now) == 0

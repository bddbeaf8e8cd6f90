"""What a review brings up: each rule at its threshold."""

from __future__ import annotations

import datetime
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from kbtool.journal.history import Month
from kbtool.knowledge.card import Card, from_json, likeness, sketch, to_json
from kbtool.knowledge.layers import Base
from kbtool.review.findings import Finding, Today, entry_findings, in_order, near_duplicates
from kbtool.review.survey import Standing
from kbtool.review.versions import outside
from tests.conftest import Kb, build_base
from tests.review.test_tree import TODAY, card, standing

HERE = Today(TODAY, torch="2.13.0+cpu")


def kinds(one: Standing, today: Today = HERE) -> dict[str, str]:
    """Kinds found for one entry, with their reasons."""
    return {finding.kind: finding.reason for finding in entry_findings([one], today)}


def healthy(**other: object) -> Card:
    """An entry that nothing is wrong with, but for the given parts."""
    return card("one-fault", "x", **{"confirmed": 2, "rows": 2, "created": "2026-11-01", "last_when": "2026-11-20 10:00Z", "months": {"2026-11": 2}, **other})


@pytest.mark.parametrize(
    ("parts", "kind", "said"),
    [
        ({"confirmed": 1, "refuted": 2}, "misleading", "refuted 2×, confirmed 1×"),
        ({"confirmed": 0, "months": {}, "inconclusive": 3, "unmet": 3, "needs": ("rocm",), "created": None}, "broken", "needs never met: rocm"),
        ({"confirmed": 12, "months": {"2026-11": 12}}, "common", "without a guard"),
        ({"confirmed": 12, "months": {"2026-02": 12}, "guarded": True}, "common", "no incident since 2026-02"),
        ({"confirmed": 0, "stale": 3}, "stale", "check changed"),
        ({"last_when": "2025-11-01 10:00Z"}, "stale", "last verified 394 days ago"),
        ({"applies_to": ("torch<2.6",)}, "stale", "applies to torch<2.6; here is torch 2.13.0+cpu"),
        ({"confirmed": 0, "months": {}, "created": "2026-09-01"}, "unproven", "90 days old"),
        ({"rows": 101}, "long", "101 outcome rows"),
    ],
)
def test_each_rule_names_its_reason(parts: dict[str, object], kind: str, said: str) -> None:
    """An entry that crosses one threshold gives exactly that finding, with its numbers."""
    found = kinds(standing(healthy(**parts)))

    assert set(found) == {kind}
    assert said in found[kind]


@pytest.mark.parametrize(
    "parts",
    [
        {},
        {"confirmed": 2, "refuted": 2},
        {"confirmed": 12, "months": {"2026-11": 12}, "guarded": True},
        {"confirmed": 1, "stale": 9},
        {"last_when": "2025-12-15 10:00Z"},
        {"applies_to": ("torch>=1.7", "python>=3.8")},
        {"confirmed": 0, "months": {}, "created": "2026-10-15"},
        {"rows": 100},
        {"status": "retired", "refuted": 9, "rows": 999},
    ],
)
def test_below_the_threshold_nothing_is_due(parts: dict[str, object]) -> None:
    """A healthy entry, one just below a threshold, and a retired one are left in peace."""
    assert kinds(standing(healthy(**parts))) == {}


def test_the_journal_counts_too() -> None:
    """Refutations that only this machine's journal saw make an entry misleading."""
    seen = replace(standing(healthy(confirmed=0, months={})), months={"2026-11": Month(first=5, refuted=3)})

    assert "misleading" in kinds(seen)


def test_needs_that_were_never_met_are_known_from_the_journal(kb: Kb, tmp_path: Path, make_entry: Callable[..., str]) -> None:
    """A check that could not run leaves no row in its entry; three times that, and the review says that its needs are never met."""
    text = make_entry().replace("status: active", "needs: [command:no-such-command]\nstatus: active")
    base = build_base(tmp_path / "entries", {"data/some-fault": text})
    kb("allow", "some-fault", entries=base)
    for _ in range(3):
        kb("verify", "some-fault", entries=base)

    due = json.loads(kb("review", "--json", entries=base).stdout)["findings"]

    assert [finding["reason"] for finding in due if finding["kind"] == "broken"] == ["needs never met: command:no-such-command (3×)"]


def test_a_date_that_is_none_is_no_finding() -> None:
    """An unreadable date makes nothing stale or unproven."""
    assert kinds(standing(healthy(created="soon", last_when="yesterday"))) == {}


def test_near_duplicates_are_proposed_into_the_better_proven_one() -> None:
    """Entries that share most of their words are a pair; the one with more confirmations stays."""
    words = [f"word{n}" for n in range(40)]
    one = standing(card("one-fault", "x", confirmed=3, sketch=sketch(words)))
    two = standing(card("two-faults", "x", sketch=sketch([*words[:-2], "other", "more"])))
    far = standing(card("third-fault", "x", sketch=sketch([f"else{n}" for n in range(40)])))

    (finding,) = near_duplicates([one, two, far])

    assert (finding.id, finding.other) == ("two-faults", "one-fault")

    shipped = [replace(each, base=Base(Path("/shipped"), "shipped", False)) for each in (one, two)]
    assert near_duplicates(shipped) == [], "nobody can merge what ships"
    assert len(near_duplicates([one, shipped[1]])) == 1


def test_likeness_is_a_share() -> None:
    """The same words are 1, none in common 0."""
    words = [f"word{n}" for n in range(100)]
    assert likeness(sketch(words), sketch(words)) == 1.0
    assert likeness(sketch(words), sketch([f"else{n}" for n in range(100)])) == 0.0
    assert likeness((), ()) == 0.0
    assert 0.2 < likeness(sketch(words), sketch(words[:50])) < 0.8


def test_findings_come_in_the_order_of_value() -> None:
    """Missing before misleading before the rest, the most frequent first."""
    found = [Finding(kind, name, name, "", (), count=count) for kind, name, count in (("long", "a", 900), ("missing", "b", 2), ("missing", "c", 9), ("misleading", "d", 4))]

    assert [finding.id for finding in in_order(found)] == ["c", "b", "d", "a"]


@pytest.mark.parametrize(
    ("requirement", "version", "excluded"),
    [("torch>=1.7", "2.6.1", False), ("torch<2.6", "2.6.1+cu118", True), ("torch==2.6", "2.6.1", False), ("torch>=2.0,<2.6", "2.7", True), ("numpy<2", "2.6", False), ("torch ~ 2", "2.6", False), ("torch<2.10", "2.9", False)],
)
def test_versions_outside_of_what_applies(requirement: str, version: str, excluded: bool) -> None:
    """A requirement on torch excludes versions outside of it; one on something else, or unreadable, excludes none."""
    assert outside(requirement, "torch", version) is excluded


def test_cards_come_back_from_the_index() -> None:
    """A card survives the index."""
    made = healthy(tags=("a",), needs=("linux",), sketch=(1, 2, 3))
    assert from_json(to_json(made)) == made


def test_days_are_counted() -> None:
    """Days since a time as kb writes it."""
    assert Today(datetime.date(2026, 11, 30)).days_since("2026-11-28 10:00Z") == 2

"""The fault tree: branches, counts, proposals, and the branch that keeps producing incidents."""

from __future__ import annotations

import datetime
import xml.etree.ElementTree as ElementTree
from pathlib import Path

from kbtool.journal.history import Month
from kbtool.knowledge.card import Card
from kbtool.knowledge.layers import Base
from kbtool.review.drawing import as_dot, as_mermaid, as_svg, as_text, sparkline
from kbtool.review.families import ALONE, families
from kbtool.review.survey import Standing, month_before, months_up_to
from kbtool.review.tree import fault_tree, worst_branch

TODAY = datetime.date(2026, 11, 30)


def card(entry_id: str, pattern: str, **other: object) -> Card:
    """A card with the given parts."""
    values = {
        "id": entry_id, "domain": "training", "title": entry_id, "pattern": pattern, "status": "active", "family": None, "tags": (), "applies_to": (), "needs": (),
        "created": None, "command": "true", "guarded": False, "confirmed": 0, "refuted": 0, "inconclusive": 0, "unmet": 0, "stale": 0, "rows": 0, "last_when": None,
        "last_environment": None, "months": {}, "sketch": (), **other,
    }  # fmt: skip
    return Card(**values)  # type: ignore[arg-type]


def standing(made: Card, **months: int) -> Standing:
    """How an entry stands: ``m2026_11=3`` are three texts it answered first in that month."""
    seen = {name[1:].replace("_", "-"): Month(first=count) for name, count in months.items()}
    return Standing(made, Base(Path("/base"), "chosen", True), f"{made.domain}/{made.id}.md", seen)


MEMORY = [
    standing(card("oom-long", "The batch does not follow the sequence length.", tags=("oom",)), m2026_11=6, m2026_10=2),
    standing(card("oom-eval", "Evaluation pads to the longest sequence of the set.", tags=("oom",)), m2026_11=1),
    standing(card("oom-resume", "A longer sequence arrives after the resume.", tags=("oom",)), m2026_09=1),
    standing(card("loss-scale", "The loss scale underflows.", family="mixed precision"), m2026_11=2),
    standing(card("scheduler", "Nobody steps the scheduler.")),
]


def test_own_families_count_and_the_rest_is_proposed() -> None:
    """A named family stays; causes with a telling word in common are proposed for one; what resembles nothing stands alone."""
    found = families(each.card for each in MEMORY)

    assert (found["loss-scale"].name, found["loss-scale"].proposed) == ("mixed precision", False)
    assert {found[name] for name in ("oom-long", "oom-eval", "oom-resume")} == {found["oom-long"]}
    assert found["oom-long"].proposed
    assert "sequence" in found["oom-long"].name
    assert found["scheduler"].name == ALONE


def test_branches_count_what_hangs_on_them() -> None:
    """Incidents and months add up from causes to families to domains, the busiest branch first."""
    tree = fault_tree(MEMORY, TODAY)

    (training,) = tree.children
    assert (tree.incidents, training.incidents) == (12, 12)
    assert [child.incidents for child in training.children] == [10, 2, 0]
    assert training.children[0].months[-3:] == [1, 2, 7]
    assert training.children[0].trend > 0


def test_the_worst_branch_and_what_its_entries_share() -> None:
    """The branch with most incidents is named with its share and with what its entries have in common."""
    tree = fault_tree(MEMORY, TODAY)
    worst = worst_branch(tree, MEMORY)

    assert worst is not None
    assert worst.incidents == 10
    assert round(worst.share, 2) == 0.83
    assert any(trait.startswith("tag oom") for trait in worst.common)


def test_a_quiet_base_has_no_worst_branch() -> None:
    """Where nothing happened, no branch is blamed."""
    quiet = [standing(card("one", "x")), standing(card("two", "y"))]

    assert worst_branch(fault_tree(quiet, TODAY), quiet) is None


def test_retired_entries_are_no_branches() -> None:
    """What was retired does not hang on the tree."""
    assert fault_tree([standing(card("one", "x", status="retired"))], TODAY).children == []


def test_confirmations_of_others_count_as_incidents() -> None:
    """Outcomes that came with the repository count where this machine's journal knows less."""
    shared = standing(card("one", "x", months={"2026-11": 4, "2026-10": 1}), m2026_11=2, m2026_10=3)

    assert shared.by_month() == {"2026-11": 4, "2026-10": 3}
    assert shared.incidents("2026-11") == 4


def test_drawings_name_every_entry_and_escape_it() -> None:
    """Text, Mermaid, dot and SVG show each entry; what an entry is called can not break the drawing."""
    odd = [*MEMORY, standing(card("odd", "z", title='<b>"&', family='a "quoted" <family> \\ #1'), m2026_11=1)]
    tree = fault_tree(odd, TODAY)

    for drawing in (as_text(tree), as_mermaid(tree), as_dot(tree), as_svg(tree)):
        assert all(each.card.id in drawing for each in odd)
    assert ElementTree.fromstring(as_svg(tree)).tag.endswith("svg")
    assert '"quoted"' not in as_mermaid(tree)
    assert '\\"quoted\\"' in as_dot(tree)


def test_small_bars() -> None:
    """The highest value has the full bar, nothing has a dot."""
    assert sparkline([0, 1, 4, 8]) == "·▁▄█"
    assert sparkline([]) == ""


def test_months_cross_the_year() -> None:
    """Months are counted over the turn of a year."""
    assert month_before(datetime.date(2026, 1, 31), 1) == "2025-12"
    assert months_up_to(datetime.date(2026, 2, 1), 3) == ["2025-12", "2026-01", "2026-02"]

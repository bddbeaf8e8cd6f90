"""The fault tree: domain, family of causes, cause, with incidents, confirmations and trend on every branch."""

from __future__ import annotations

import datetime
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from kbtool.model import Status
from kbtool.review.families import ALONE, families, in_common
from kbtool.review.survey import Standing, months_up_to

MONTHS = 12
"""Months that a trend shows."""


@dataclass
class Node:
    """A branch or (without children) an entry. `months` are incidents of the last months, oldest first."""

    name: str
    kind: str
    """root, domain, family or cause."""
    title: str = ""
    proposed: bool = False
    incidents: int = 0
    confirmed: int = 0
    months: list[int] = field(default_factory=lambda: [0] * MONTHS)
    children: list[Node] = field(default_factory=list)

    @property
    def trend(self) -> int:
        """Incidents of the last quarter of the year less those of the one before: above zero it grows."""
        return sum(self.months[-3:]) - sum(self.months[-6:-3])

    def add(self, child: Node) -> None:
        """Hang a branch below this one and count what it counts."""
        self.children.append(child)
        self.incidents += child.incidents
        self.confirmed += child.confirmed
        self.months = [mine + its for mine, its in zip(self.months, child.months, strict=True)]


@dataclass(frozen=True)
class Worst:
    """The branch that produces most incidents, its share of all, and what its entries have in common."""

    domain: str
    family: str
    incidents: int
    share: float
    common: tuple[str, ...]


def fault_tree(standings: Iterable[Standing], today: datetime.date, *, domain: str | None = None) -> Node:
    """The tree of all entries that are not retired, the busiest branches first."""
    chosen = _in_use(standings, domain)
    family_of = families(standing.card for standing in chosen)
    months = months_up_to(today, MONTHS)
    groups: dict[str, dict[tuple[str, bool], list[Standing]]] = defaultdict(lambda: defaultdict(list))
    for standing in chosen:
        family = family_of[standing.card.id]
        groups[standing.card.domain][(family.name, family.proposed)].append(standing)
    root = Node("faults", "root")
    for name, branches in groups.items():
        branch = Node(name, "domain")
        for (family_name, proposed), members in _united(branches).items():
            node = Node(family_name, "family", proposed=proposed)
            for standing in members:
                node.add(_leaf(standing, months))
            _sort(node)
            branch.add(node)
        _sort(branch)
        root.add(branch)
    _sort(root)
    return root


def _in_use(standings: Iterable[Standing], domain: str | None) -> list[Standing]:
    return [standing for standing in standings if standing.card.status != Status.RETIRED.value and domain in (None, standing.card.domain)]


def _united(branches: dict[tuple[str, bool], list[Standing]]) -> dict[tuple[str, bool], list[Standing]]:
    """Entries proposed for a family that others name stand in that family."""
    named = {name for name, proposed in branches if not proposed}
    united: dict[tuple[str, bool], list[Standing]] = defaultdict(list)
    for (name, proposed), members in branches.items():
        united[(name, proposed and name not in named)] += members
    return united


def _leaf(standing: Standing, months: Sequence[str]) -> Node:
    counts = standing.by_month()
    return Node(
        standing.card.id,
        "cause",
        title=standing.card.title,
        incidents=sum(counts.values()),
        confirmed=standing.card.confirmed,
        months=[counts.get(month, 0) for month in months],
    )


def _sort(node: Node) -> None:
    node.children.sort(key=lambda child: (child.name == ALONE, -child.incidents, -child.confirmed, child.name))


def worst_branch(tree: Node, standings: Sequence[Standing]) -> Worst | None:
    """The family of `tree` with most incidents; None where nothing happened yet."""
    best: tuple[int, str, Node] | None = None
    for branch in tree.children:
        for family in branch.children:
            if family.name != ALONE and family.incidents and (best is None or family.incidents > best[0]):
                best = (family.incidents, branch.name, family)
    if best is None:
        return None
    count, name, family = best
    inside_ids = {child.name for child in family.children}
    inside = [standing.card for standing in standings if standing.card.id in inside_ids]
    outside = [standing.card for standing in standings if standing.card.id not in inside_ids and standing.card.domain == name]
    return Worst(name, family.name, count, count / max(1, tree.incidents), tuple(in_common(inside, outside)))

"""Families of causes: the branches of the fault tree between a domain and its entries.

An entry's own `family` counts. Where it has none, one is proposed from likeness: the telling word that most root causes of a domain have
in common. A proposal is marked as one and never written unasked.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from kbtool.knowledge.card import Card
from kbtool.matching.tokens import words

ALONE = "single causes"
"""Branch of entries that resemble no other."""

LEAST = 2
"""Entries that make a family."""

LARGEST_SHARE = 0.6
"""A word in more than this share of a domain's causes says nothing about any of them."""

COMMON = frozenset(
    "the a an and or of in on to is are was were be been it its this that than then when while with without for from by at as not no but so "
    "can cannot could does do did has have had one two more less only same other another which what where there their they he she you your "
    "into out up down over under after before every each all any some because through during between still too very also first last new old "
    "torch pytorch python model tensor training value values error fails failed wrong default given used uses use call called code".split()
)
"""Words that join no family."""


@dataclass(frozen=True)
class Family:
    """An entry's branch; `proposed` where the entry does not name it itself."""

    name: str
    proposed: bool


def families(cards: Iterable[Card]) -> dict[str, Family]:
    """Entry id to its family."""
    by_domain: dict[str, list[Card]] = defaultdict(list)
    for card in cards:
        by_domain[card.domain].append(card)
    return {entry: family for cards in by_domain.values() for entry, family in _of_domain(cards).items()}


def _of_domain(cards: Sequence[Card]) -> dict[str, Family]:
    found = {card.id: Family(card.family, False) for card in cards if card.family}
    told = _told_words(cards)
    known = _words_of_known(cards, told)
    rest = [card for card in cards if card.id not in found]
    counts = Counter(word for card in rest for word in told[card.id])
    most = max(LEAST, LARGEST_SHARE * len(cards))
    for card in rest:
        joined = Counter(known[word] for word in told[card.id] if word in known)
        shared = [word for word in told[card.id] if LEAST <= counts[word] <= most]
        if joined and joined.most_common(1)[0][1] >= LEAST:
            found[card.id] = Family(joined.most_common(1)[0][0], True)
        elif shared:
            found[card.id] = Family(max(shared, key=lambda word: (counts[word], len(word), word)), True)
        else:
            found[card.id] = Family(ALONE, True)
    return _without_single(found)


def _told_words(cards: Iterable[Card]) -> dict[str, set[str]]:
    return {card.id: {word for word in words(card.pattern.lower()) if len(word) > 2 and word not in COMMON and not word.isdigit()} for card in cards}


def _words_of_known(cards: Iterable[Card], told: Mapping[str, set[str]]) -> dict[str, str]:
    """Word to the named family in whose causes alone it stands."""
    owners: dict[str, set[str]] = defaultdict(set)
    for card in cards:
        if card.family:
            for word in told[card.id] | set(words(card.family.lower())):
                owners[word].add(card.family)
    return {word: next(iter(names)) for word, names in owners.items() if len(names) == 1}


def _without_single(found: dict[str, Family]) -> dict[str, Family]:
    """A proposed family that only one entry came to is none."""
    sizes = Counter(family.name for family in found.values())
    return {entry: Family(ALONE, True) if family.proposed and sizes[family.name] < LEAST else family for entry, family in found.items()}


def in_common(inside: Sequence[Card], outside: Sequence[Card], *, limit: int = 4) -> list[str]:
    """What the entries of a branch share and others do not: words of their causes, tags and needs, most telling first.

    This is where the design fault behind a branch shows.
    """
    if len(inside) < LEAST:
        return []
    mine = Counter(trait for card in inside for trait in _traits(card))
    others = Counter(trait for card in outside for trait in _traits(card))
    rated = []
    for trait, count in mine.items():
        share, elsewhere = count / len(inside), others[trait] / max(1, len(outside))
        if count >= LEAST and share >= 0.3 and share > 2 * elsewhere:
            rated.append((share - elsewhere, count, trait))
    return [f"{trait} ({count} of {len(inside)})" for _, count, trait in sorted(rated, reverse=True)[:limit]]


def _traits(card: Card) -> set[str]:
    told = {word for word in words(card.pattern.lower()) if len(word) > 2 and word not in COMMON and not word.isdigit()}
    return {*told, *(f"tag {tag}" for tag in card.tags), *(f"needs {need}" for need in card.needs)}

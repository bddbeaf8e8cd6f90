"""An entry's file as the rows of the index, and back."""

from __future__ import annotations

import json
import os
from collections.abc import Set
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from kbtool.matching.profile import Profile, encode, from_json, to_json
from kbtool.model import Check, Domain, Entry, Outcome, Tally, Verdict

ENTRY_COLUMNS = ("id", "domain", "path", "title", "status", "root_cause", "verify", "confirms", "fix", "outcomes", "applies_to", "profile")
"""What match reads of an entry."""

COLUMNS: dict[str, tuple[str, ...]] = {
    "meta": ("key", "value"),
    "file": ("path", "size", "mtime_ns", "ctime_ns", "inode", "problems"),
    "domain": ("name", "path", "keywords", "first_action", "minimal_check", "go_back_when"),
    "entry": ("number", "title_tokens", "salient_tokens", "symptom_tokens", *ENTRY_COLUMNS),
    "card": ("number", "card"),
    "term": ("token", "entries", "postings"),
}
"""The columns of each table of the index, in the order in which rows give them."""


class Record(NamedTuple):
    """An entry as match needs it: what is shown, its outcomes counted, and its profile."""

    id: str
    domain: str
    path: str
    title: str
    status: str
    root_cause: str
    verify: str
    confirms: str | None
    fix: str
    tally: Tally
    applies_to: tuple[str, ...]
    profile: Profile


def entry_row(entry: Entry, number: int, relative: str, profile: Profile, symptom: Set[str]) -> tuple[Any, ...]:
    """The row of an entry with this profile, whose wordings hold the tokens `symptom`."""
    check = entry.check
    return (
        number,
        len(profile.title),
        len(symptom & profile.context),
        len(symptom),
        entry.id,
        entry.domain,
        relative,
        entry.title,
        entry.status.value,
        entry.root_cause,
        check.command if check else "",
        check.confirms if check else None,
        entry.fix,
        encode(tally_of(entry.outcomes, check)) if entry.outcomes else _NO_OUTCOMES,
        encode(entry.applies_to) if entry.applies_to else "[]",
        to_json(profile),
    )


def card_row(entry: Entry, number: int, symptom: Set[str]) -> tuple[Any, ...]:
    """The row of an entry's card."""
    from kbtool.knowledge import card

    return number, card.to_json(card.card_of(entry, symptom))


def tally_of(outcomes: tuple[Outcome, ...], check: Check | None) -> list[Any]:
    """Counts of the outcomes that the present check gave, and the last one; older checks' outcomes are stale and don't count."""
    from kbtool.knowledge.outcomes import tally  # it brings the parsers along, which a match on a fresh index does without

    counted = tally(outcomes, check.digest if check else "")
    last = counted.last_verdict.value if counted.last_verdict else None
    return [counted.confirmed, counted.refuted, counted.inconclusive, counted.last_when, last]


_NO_OUTCOMES = encode([0, 0, 0, None, None])


def record_of(values: tuple[Any, ...], root: Path) -> Record:
    """The record in a row of ENTRY_COLUMNS; raises ValueError, TypeError or KeyError for a row that kb did not write."""
    entry_id, domain, path, title, status, root_cause, verify, confirms, fix, outcomes, applies_to, profile = values
    return Record(
        id=entry_id,
        domain=domain,
        path=os.path.join(root, path),
        title=title,
        status=status,
        root_cause=root_cause,
        verify=verify,
        confirms=confirms,
        fix=fix,
        tally=_tally(outcomes),
        applies_to=_applies_to(applies_to),
        profile=from_json(profile),
    )


@lru_cache(64)
def _tally(text: str) -> Tally:
    """The counts in a row; most entries have none."""
    confirmed, refuted, inconclusive, when, verdict = json.loads(text)
    return Tally(confirmed, refuted, inconclusive, when, Verdict(verdict) if verdict else None)


@lru_cache(64)
def _applies_to(text: str) -> tuple[str, ...]:
    """The versions in a row; most entries name none."""
    return tuple(json.loads(text))


def domain_row(domain: Domain, relative: str) -> tuple[Any, ...]:
    """The row of a domain page."""
    return domain.name, relative, encode(domain.keywords), domain.first_action, domain.minimal_check, domain.go_back_when


def domain_of(values: tuple[Any, ...], root: Path) -> Domain:
    """The domain page in a row."""
    name, path, keywords, first_action, minimal_check, go_back_when = values
    return Domain(name, tuple(json.loads(keywords)), first_action, minimal_check, go_back_when, root / path)

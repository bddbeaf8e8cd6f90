"""Saving a new entry: its check runs once first, where that is allowed, and the outcome is the entry's first row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from kbtool.errors import NotAllowedError
from kbtool.knowledge.composing import Draft, compose_entry
from kbtool.knowledge.layers import Base
from kbtool.knowledge.writing import create_entry
from kbtool.model import Entry
from kbtool.verification.consent import Consent
from kbtool.verification.record import Recorded, record, refresh_index
from kbtool.verification.run import CheckResult, verify


@dataclass(frozen=True)
class Saved:
    """A new entry's file, and what its check said when it was saved."""

    path: Path
    result: CheckResult | None
    recorded: Recorded | None


def place_of(base: Base, domain: str, entry_id: str) -> Path:
    """The file a new entry will be."""
    return base.root / domain / f"{entry_id}.md"


def made(draft: Draft, base: Base) -> tuple[str, Entry]:
    """The text of a draft and the entry that it is, at its place in `base`. Raises as `compose_entry` does."""
    return compose_entry(draft, place_of(base, draft.domain, draft.id))


def run_once(entry: Entry, consent: Consent) -> CheckResult | None:
    """What the check says here; None where there is none or it may not run."""
    if entry.check is None:
        return None
    try:
        return verify(entry, consent=consent)
    except NotAllowedError:
        return None


def save(text: str, entry: Entry, base: Base, bases: Sequence[Base], result: CheckResult | None, *, match_id: int | None = None) -> Saved:
    """Write the entry and the outcome of its check, and bring the index up to date. Raises as `create_entry` does."""
    path = create_entry(base, entry.domain, entry.id, text)
    everywhere = list(bases) if any(each.root == base.root for each in bases) else [base, *bases]
    kept = record(entry, base, result, bases=everywhere, match_id=match_id) if result is not None else None
    refresh_index(everywhere)
    return Saved(path, result, kept)

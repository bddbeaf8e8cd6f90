"""Searching the base by words, as a person types them: every word counts, most in title and id."""

from __future__ import annotations

from dataclasses import dataclass

from kbtool.matching.candidates import holders
from kbtool.matching.index import Index
from kbtool.matching.rows import Record
from kbtool.matching.tokens import tokens

CANDIDATES = 200


@dataclass(frozen=True)
class Hit:
    """An entry that holds words of the query; `found` is the share of the query's tokens that it holds."""

    record: Record
    found: float


def search(query: str, index: Index, *, limit: int = 20) -> list[Hit]:
    """The entries that hold all the query's words, best first; where none does, those that hold some. Without words nothing is found."""
    wanted = set(tokens(query))
    if not wanted:
        return []
    ranked = [(_share(wanted, record), place, record) for place, record in enumerate(holders(index, sorted(wanted), CANDIDATES))]
    ranked.sort(key=lambda item: (-item[0][0], -item[0][1], item[1]))
    complete = [item for item in ranked if item[0][0] == 1]
    return [Hit(record, share[0]) for share, _, record in (complete or ranked)[:limit] if share[0] > 0]


def _share(wanted: set[str], record: Record) -> tuple[float, float]:
    """Shares of the query's tokens: in the whole entry, and in its name (title and id)."""
    name = set(tokens(record.title)) | set(tokens(record.id.replace("-", " ")))
    return len(wanted & (record.profile.all_tokens() | name)) / len(wanted), len(wanted & name) / len(wanted)

"""Which checks a command means: numbers of the last match, ids, or by default the best candidate of the last match."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from kbtool.errors import KbError
from kbtool.journal.journal import open_journal
from kbtool.journal.records import LastMatch
from kbtool.journal.terminal import base_key, terminal_key
from kbtool.knowledge.layers import Base, all_entry_files, unknown_id
from kbtool.knowledge.schema import ID
from kbtool.model import Entry
from kbtool.quantities import plural
from kbtool.verification.record import load


@dataclass(frozen=True)
class Target:
    """An entry whose check is asked for, the base that holds it, and the match that led here, if one did."""

    entry: Entry
    base: Base
    match_id: int | None = None


def last_match(bases: Sequence[Base]) -> LastMatch | None:
    """What was matched last in this terminal with these bases."""
    with open_journal() as journal:
        return journal.last_match(base=base_key(base.root for base in bases), terminal=terminal_key())


def find_targets(words: Sequence[str], bases: Sequence[Base], *, all_matched: bool = False) -> list[Target]:
    """The targets that `words` name, each once, in their order.

    Raises KbError for a number or id that leads nowhere, and when nothing was named and nothing was matched before.
    """
    matched = last_match(bases)
    ids = _named(words, matched, bases) if words else _matched_ids(matched, all_matched)
    offered = set(matched.entries) if matched else set()
    return [_target(entry_id, bases, matched.id if matched and entry_id in offered else None) for entry_id in ids]


def resolve_ids(words: Sequence[str], bases: Sequence[Base]) -> list[str]:
    """The ids that `words` name; no entry is opened, so that a broken one can be named too. Raises KbError as `find_targets` does."""
    return _named(words, last_match(bases), bases)


def _named(words: Sequence[str], matched: LastMatch | None, bases: Sequence[Base]) -> list[str]:
    return list(dict.fromkeys(_one(word, matched, bases) for word in words))


def _target(entry_id: str, bases: Sequence[Base], match_id: int | None) -> Target:
    base, entry = load(entry_id, bases)
    return Target(entry, base, match_id)


def _matched_ids(matched: LastMatch | None, all_matched: bool) -> list[str]:
    if matched is None:
        raise KbError("nothing was matched in this terminal yet, so there is nothing to verify", hint="`kb match LOG` first, or `kb verify ID`")
    if not matched.entries:
        raise KbError("the last match found nothing, so there is nothing to verify", hint="name an entry by its id; `kb list` shows them")
    return list(matched.entries if all_matched else matched.entries[:1])


def _one(word: str, matched: LastMatch | None, bases: Sequence[Base]) -> str:
    if not word.isdigit():
        if not ID.fullmatch(word):
            raise unknown_id(word, list(all_entry_files(list(bases))))
        return word
    if matched is None:
        raise KbError(f"nothing was matched in this terminal yet, so there is no candidate {word}", hint="`kb match LOG` first, or name an id")
    if not 1 <= int(word) <= len(matched.entries):
        had = f"has {plural(len(matched.entries), 'candidate')}" if matched.entries else "found nothing"
        raise KbError(f"the last match {had}, and so there is no number {word}", hint="name an entry by its id; `kb list` shows them")
    return matched.entries[int(word) - 1]


def given_values(items: Sequence[str]) -> dict[str, Any]:
    """The literals of ``--with NAME=VALUE``. Raises KbError for what is no literal."""
    import ast

    values = {}
    for item in items:
        name, equals, text = item.partition("=")
        try:
            values[name.strip()] = ast.literal_eval(text.strip())
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            equals = ""
        if not equals or not name.strip().isidentifier():
            raise KbError(f"`{item}` is no NAME=VALUE with a literal value", hint="for example --with num_classes=10")
    return values

"""Changes of an entry's life as one step each: the file, the journal and the index go together.

A shipped entry is never changed: the change is made to a copy in the user's own base.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from kbtool import settings
from kbtool.errors import KbError
from kbtool.journal import history
from kbtool.journal.journal import open_journal
from kbtool.knowledge import rewriting, writing
from kbtool.knowledge.layers import Base, find_layers
from kbtool.model import Entry, Status
from kbtool.review.findings import ROWS_KEPT
from kbtool.verification.record import load, refresh_index, writable_file


@dataclass(frozen=True)
class Changed:
    """The file that was changed, and whether it is a copy that was made for it."""

    path: Path
    copied: bool = False
    rows: int = 0
    """Outcome rows that a fold removed."""


def _own(entry_id: str, bases: Sequence[Base]) -> tuple[Base, Entry, Path, bool]:
    base, entry = load(entry_id, bases)
    if base.kind != "shipped" and not base.writable:
        raise KbError(f"{base.root}: the base is read-only", hint="change its permissions, or name another base with `kb --entries DIR`")
    path, copied = writable_file(entry, base)
    return base, entry, path, copied


def set_status(entry_id: str, status: Status, bases: Sequence[Base], *, reason: str = "", day: str = "") -> Changed:
    """Retire an entry or bring it back; a reason becomes a note of that day. Raises KbError for an unknown id, else as `set_value`."""
    _, _, path, copied = _own(entry_id, bases)
    writing.set_value(path, "status", status.value)
    if reason:
        rewriting.add_note(path, f"{status.value.capitalize()} {day}: {reason}")
    refresh_index(find_layers())
    return Changed(path, copied)


def fold(entry_id: str, bases: Sequence[Base]) -> Changed:
    """Fold an entry's old outcome rows."""
    _, _, path, copied = _own(entry_id, bases)
    rows = rewriting.fold_outcomes(path, keep=ROWS_KEPT)
    refresh_index(find_layers())
    return Changed(path, copied, rows)


def take_over(entry_id: str, text: bytes, expect: bytes, bases: Sequence[Base]) -> tuple[Changed, bool]:
    """Replace an entry's text by an edited one; also whether its check is another one now.

    Raises EntryError when the text is no entry, RefusedError when the file changed meanwhile.
    """
    base, before = load(entry_id, bases)
    if before.path.read_bytes() != expect:
        raise KbError(f"{before.path}: changed while it was edited; nothing was written", hint=f"run `kb edit {entry_id}` again")
    _, _, path, copied = _own(entry_id, bases)
    after = rewriting.replace_text(path, text, expect=expect)
    refresh_index(find_layers())
    changed = (before.check.digest if before.check else "") != (after.check.digest if after.check else "")
    return Changed(path, copied), changed


def merge(gone_id: str, kept_id: str, bases: Sequence[Base]) -> Changed:
    """Unite `gone_id` into `kept_id`: wordings, outcomes and texts, and its history in the journal. A shipped one is retired instead of removed."""
    if gone_id == kept_id:
        raise KbError("an entry can not be merged into itself")
    gone_base, gone = load(gone_id, bases)
    if gone_base.kind != "shipped" and not gone_base.writable:
        raise KbError(f"{gone_base.root}: the base is read-only; `{gone_id}` can not be removed from it")
    _, _, path, copied = _own(kept_id, bases)
    expect = gone.path.read_bytes()
    rewriting.unite(path, gone.path)
    if gone_base.kind == "shipped":
        set_status(gone_id, Status.RETIRED, bases, reason=f"merged into `{kept_id}`")
    else:
        rewriting.remove_entry(gone.path, expect=expect)
    with open_journal() as journal:
        history.rename_entry(journal, gone_id, kept_id)
    refresh_index(find_layers())
    return Changed(path, copied)


def rename(old: str, new: str, bases: Sequence[Base], *, domain: str | None = None) -> Changed:
    """Give an entry another id, another domain, or both; its history in the journal follows it.

    Raises KbError for a shipped entry, which keeps its name, and for names that are taken or no names.
    """
    base, entry = load(old, bases)
    if base.kind == "shipped":
        raise KbError(f"`{old}` is shipped with kb and keeps its name", hint=f"`kb add` makes an entry of your own in {settings.user_entries()}")
    if not base.writable:
        raise KbError(f"{base.root}: the base is read-only", hint="change its permissions, or name another base with `kb --entries DIR`")
    target = rewriting.move_entry(base, entry.path, entry_id=new, domain=domain or entry.domain)
    if new != old:
        with open_journal() as journal:
            history.rename_entry(journal, old, new)
    refresh_index(find_layers())
    return Changed(target)

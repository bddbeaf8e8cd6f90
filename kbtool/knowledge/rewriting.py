"""The larger changes of a base's life: fold an outcome table, take over an edited text, unite two entries, move one.

Each is one small diff in git, made under the base's lock and atomic; where two files change, the one that gains is written first, so that
a kill in between loses nothing and the same command finishes the work.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from kbtool.durable import locked, write_atomically
from kbtool.errors import KbError, RefusedError
from kbtool.knowledge import headings
from kbtool.knowledge.composing import prose
from kbtool.knowledge.document import Document
from kbtool.knowledge.entry import parse_entry, read_entry
from kbtool.knowledge.layers import Base, is_entry_name
from kbtool.knowledge.outcomes import format_header, format_row, outcome_table, read_row
from kbtool.knowledge.schema import ID
from kbtool.knowledge.writing import Splice, change_entry, end_of_text, fence_lines
from kbtool.model import Entry, Outcome

FOLDED = "folded"
"""How the note of a row begins that stands for many."""


def fold_outcomes(path: Path, *, keep: int) -> int:
    """Fold all but the newest `keep` rows of the Outcomes table into one row for each verdict and check; returns how many rows went.

    Counts stay what they were, and the summary's note says from when to when. Raises as `change_entry` does.
    """
    gone = 0

    def edit(document: Document, entry: Entry) -> list[Splice]:
        nonlocal gone
        table = outcome_table(document)
        rows = [] if table is None else [row for row in table.rows if read_row(row)]
        if table is None or len(rows) <= keep:
            return []
        old = rows[: len(rows) - keep]
        summaries = _summaries([outcome for row in old if (outcome := read_row(row))])
        gone = len(old) - len(summaries)
        first = old[0].line
        lines = {row.line for row in old}
        cuts = [Splice(line, line + 1, []) for line in sorted(lines) if line != first]
        return [Splice(first, first + 1, [format_row(row) for row in summaries]), *cuts] if gone > 0 else []

    change_entry(path, edit, _same_counts)
    return gone


def _summaries(outcomes: Sequence[Outcome]) -> list[Outcome]:
    """One row for each verdict of each check, at the time of its newest."""
    groups: dict[tuple[str, str], list[Outcome]] = {}
    for outcome in outcomes:
        groups.setdefault((outcome.check, outcome.verdict.value), []).append(outcome)
    folded = []
    for rows in groups.values():
        newest = max(rows, key=lambda row: row.when)
        since = min(_since(row) for row in rows)
        folded.append(newest._replace(count=sum(row.count for row in rows), exit_code=None, seconds=None, note=f"{FOLDED}, since {since}") if len(rows) > 1 else newest)
    return sorted(folded, key=lambda row: row.when)


def _since(row: Outcome) -> str:
    """The day a row speaks of; of one that was folded before, its first."""
    return row.note.rsplit(" ", 1)[-1] if row.note.startswith(f"{FOLDED}, since ") else row.when[:10]


def _same_counts(before: Entry, after: Entry) -> bool:
    def counted(entry: Entry) -> dict[tuple[str, str], int]:
        counts: dict[tuple[str, str], int] = {}
        for row in entry.outcomes:
            counts[(row.check, row.verdict.value)] = counts.get((row.check, row.verdict.value), 0) + row.count
        return counts

    return counted(before) == counted(after) and before._replace(outcomes=()) == after._replace(outcomes=())


def add_note(path: Path, text: str) -> Entry:
    """Add a paragraph to the Notes section of an entry; the section is made before the Outcomes if it is missing."""
    lines = prose(text).split("\n")

    def edit(document: Document, entry: Entry) -> list[Splice]:
        return [_note_splice(document, lines)]

    return change_entry(path, edit, lambda before, after: before == after)


def _note_splice(document: Document, lines: Sequence[str]) -> Splice:
    section = document.section(headings.NOTES)
    if section is not None:
        at = end_of_text(document, section.line + 1, section.end)
        return Splice(at, at, ["", *lines])
    outcomes = document.section(headings.OUTCOMES)
    head = f"## {headings.written_heading(headings.NOTES)}"
    if outcomes is not None:
        return Splice(outcomes.line, outcomes.line, [head, "", *lines, ""])
    at = end_of_text(document, 0, len(document.lines))
    return Splice(at, at, ["", head, "", *lines])


def replace_text(path: Path, text: bytes, *, expect: bytes) -> Entry:
    """Put `text` in the place of the entry at `path`, if that still holds `expect`.

    Raises EntryError when `text` is no entry, RefusedError when the file changed meanwhile.
    """
    entry = parse_entry(text, path=path, domain=path.parent.name)
    with locked(path.parent.parent):
        if path.read_bytes() != expect:
            raise RefusedError(f"{path}: changed while it was edited; nothing was written", hint="edit it again on what stands there now")
        write_atomically(path, text)
    return entry


def unite(kept: Path, gone: Path) -> Entry:
    """Give the entry `kept` what `gone` has beside it: wordings, lookalikes, outcomes, and its texts as a note. `gone` is not touched.

    What is there already is not added again. Raises as `change_entry` does.
    """
    other = read_entry(gone, gone.parent.name)

    def edit(document: Document, entry: Entry) -> list[Splice]:
        return [  # from the end to the beginning: of two splices at one place, the later one in this list comes first in the file
            *_outcome_splices(document, [row for row in other.outcomes if row not in entry.outcomes]),
            *_merge_note(document, other),
            *_fence_splices(document, headings.NOT_THIS, [text for text in other.not_this if text not in (*entry.not_this, *entry.symptoms)]),
            *_fence_splices(document, headings.SYMPTOM, [text for text in other.symptoms if text not in entry.symptoms]),
        ]

    def meant(before: Entry, after: Entry) -> bool:
        same = before._replace(symptoms=(), not_this=(), outcomes=()) == after._replace(symptoms=(), not_this=(), outcomes=())
        return same and set(other.symptoms) <= set(after.symptoms) and set(other.outcomes) <= set(after.outcomes)

    return change_entry(kept, edit, meant)


def _fence_splices(document: Document, name: str, texts: Sequence[str]) -> list[Splice]:
    if not texts:
        return []
    lines = [line for text in texts for line in ("", *fence_lines(text))]
    section = document.section(name)
    if section is not None and section.fences:
        at = section.fences[-1].end
        return [Splice(at, at, lines)]
    symptom = document.section(headings.SYMPTOM)
    at = end_of_text(document, symptom.line + 1, symptom.end) if symptom else len(document.lines)
    return [Splice(at, at, ["", f"## {headings.written_heading(name)}", *lines])]


def _merge_note(document: Document, other: Entry) -> list[Splice]:
    told = f"Merged from `{other.id}`: {other.title}"
    if told.encode("utf-8") in b"".join(document.lines):
        return []
    parts = [told, f"Its root cause: {other.root_cause}"]
    if other.check:
        parts.append(f"Its check ({other.check.confirms or 'a person judges'}):\n\n```{other.check.language}\n{other.check.command}\n```")
    if other.fix:
        parts.append(f"Its fix: {other.fix}")
    return [_note_splice(document, prose("\n\n".join(parts)).split("\n"))]


def _outcome_splices(document: Document, rows: Sequence[Outcome]) -> list[Splice]:
    if not rows:
        return []
    table = outcome_table(document)
    written = [format_row(row) for row in rows]
    if table is not None:
        first = table.rows[0].line if table.rows else table.end
        return [Splice(first, first, written)]
    section = document.section(headings.OUTCOMES)
    head = [*format_header(), *written]
    if section is not None:
        return [Splice(section.line + 1, section.line + 1, ["", *head])]
    return [Splice(len(document.lines), len(document.lines), ["", f"## {headings.written_heading(headings.OUTCOMES)}", "", *head])]


def remove_entry(path: Path, *, expect: bytes) -> None:
    """Remove the file of an entry whose content lives on elsewhere, if it still is what was read."""
    with locked(path.parent.parent):
        if path.read_bytes() != expect:
            raise RefusedError(f"{path}: changed meanwhile; it was not removed", hint="run the command again")
        path.unlink()


def move_entry(base: Base, path: Path, *, entry_id: str, domain: str) -> Path:
    """Give an entry another id or domain; not a byte of it changes. Returns its new file.

    Raises KbError when the id or domain is no plain name or taken in the base.
    """
    for what, name in (("id", entry_id), ("domain", domain)):
        if not ID.fullmatch(name):
            raise KbError(f"`{name[:80]}` is no {what}: lower-case letters, digits and hyphens, 3 to 80 of them, a letter first")
    target = base.root / domain / f"{entry_id}.md"
    with locked(base.root):
        _refuse_taken(base, path, target)
        target.parent.mkdir(exist_ok=True)
        if os.path.realpath(target.parent) != os.path.join(os.path.realpath(base.root), domain):
            raise KbError(f"{target.parent}: leads outside the base; nothing was moved")
        os.replace(path, target)
    return target


def _refuse_taken(base: Base, path: Path, target: Path) -> None:
    for folder in base.root.iterdir():
        other = folder / target.name
        if is_entry_name(target.name) and os.path.lexists(other) and other != path:
            raise KbError(f"{other}: the id `{target.stem}` is taken", hint=f"`kb show {target.stem}` shows it")



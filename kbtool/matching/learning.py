"""`kb learn`: what of a failure is worth keeping as one more wording of an entry, or as a text that only looks like it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from kbtool import settings
from kbtool.errors import KbError
from kbtool.knowledge import headings, writing
from kbtool.knowledge.entry import read_entry
from kbtool.knowledge.layers import Base, locate
from kbtool.knowledge.redaction import redact
from kbtool.matching.index import Index, open_index, refresh
from kbtool.matching.query import make_query
from kbtool.matching.report import Report, report_text
from kbtool.matching.signs import Kind

MOST_LINES = 12
"""Lines of a wording; more would make it a log."""
LINE_LIMIT = 600
INNERMOST = 2
"""Frames kept above the first message."""
SIGNS = 5
"""Signs kept where no exception was seen."""
SILENT_LINES = 6
"""Lines kept of an input without any sign of failure: those with the rarest words."""


@dataclass(frozen=True)
class Learnt:
    """What was written where; `added` is False where the entry held that text already."""

    id: str
    path: Path
    section: str
    text: str
    added: bool


def learn(entry_id: str, text: str, bases: list[Base], *, wrong: bool = False) -> Learnt:
    """Add the telling lines of `text` to the entry's Symptom section, or with `wrong` to its Not this section, and refresh the index.

    A shipped entry is first copied to the user's base. Raises KbError for an unknown id, a text that tells nothing, and as
    `writing.add_fence` does.
    """
    base, file = locate(entry_id, bases)
    entry = read_entry(file.path, file.domain)
    wording = telling_lines(report_text(text), open_index(bases))
    if not wording:
        raise KbError("the text holds no line that tells anything", hint="`kb learn ID FILE` reads a log or a traceback")
    section = headings.NOT_THIS if wrong else headings.SYMPTOM
    if wording in (entry.not_this if wrong else entry.symptoms):
        return Learnt(entry_id, file.path, section, wording, added=False)
    path = file.path
    if base.kind == "shipped":
        path = writing.copy_to(Base(settings.user_entries(), "user", writable=True), entry)
    writing.add_fence(path, section, wording)
    refresh(bases)
    return Learnt(entry_id, path, section, wording, added=True)


def telling_lines(report: Report, index: Index) -> str:
    """The lines of a report that tell which failure it is, redacted: its messages with the innermost frames, other signs, or its rarest lines."""
    chosen = set(report.primary) | set(report.chain)
    if report.primary:
        frames = [at for at in range(report.primary[0]) if report.lines[at].kind is Kind.FRAME]
        chosen.update(frames[-INNERMOST:])
    if not report.chain:
        chosen.update(_signs(report))
    if not chosen:
        chosen.update(_rarest(report, index))
    kept = sorted(chosen)[:MOST_LINES]
    if report.primary and report.primary[0] not in kept:
        kept = sorted({*report.primary[:MOST_LINES], *kept[: MOST_LINES - len(report.primary[:MOST_LINES])]})
    lines = [report.lines[at].text.strip()[:LINE_LIMIT] for at in kept]
    return redact("\n".join(line for line in lines if line)).text.strip("\n")


def _signs(report: Report) -> list[int]:
    kinds = (Kind.SIGN, Kind.WRAPPER) if any(line.kind is Kind.SIGN for line in report.lines) else (Kind.FALLOUT, Kind.WARNING)
    return [at for at, line in enumerate(report.lines) if line.kind in kinds][:SIGNS]


def _rarest(report: Report, index: Index) -> list[int]:
    query = make_query(report)
    base = index.frequencies(query.bag)
    ranked = sorted(query.lines, key=lambda line: -sum(base.idf(token) for token in line.tokens))
    return [line.at for line in ranked[:SILENT_LINES]]

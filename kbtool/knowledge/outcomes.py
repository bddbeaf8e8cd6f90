"""Outcome rows: the table a check writes its results into, read and written in one place."""

from __future__ import annotations

import re

from kbtool.knowledge import headings
from kbtool.knowledge.document import Document, Row, Table
from kbtool.model import Outcome, Tally, Verdict

COLUMNS = ("When", "Outcome", "Check", "Exit", "Time", "Environment", "Note")

_VERDICT = re.compile(r"(confirmed|refuted|inconclusive)(?:\s*×\s*(\d+))?")
_TIME = re.compile(r"(\d+(?:\.\d+)?)\s*(ms|s)")
NOTE_LIMIT = 200


def outcome_table(document: Document) -> Table | None:
    """The table that outcomes are written into: the section's last one that is wide enough, for a narrower one is a person's own."""
    section = document.section(headings.OUTCOMES)
    ours = [table for table in section.tables if len(table.header) >= len(COLUMNS)] if section else []
    return ours[-1] if ours else None


def format_row(outcome: Outcome) -> str:
    """One table row, without line ending."""
    verdict = outcome.verdict.value + (f" ×{outcome.count}" if outcome.count > 1 else "")
    exit_code = "" if outcome.exit_code is None else str(outcome.exit_code)
    cells = (outcome.when, verdict, outcome.check, exit_code, format_seconds(outcome.seconds), outcome.environment, outcome.note)
    return "| " + " | ".join(_cell(cell) for cell in cells) + " |"


def format_header() -> tuple[str, str]:
    """The table's head and its rule."""
    return "| " + " | ".join(COLUMNS) + " |", "| " + " | ".join("---" for _ in COLUMNS) + " |"


def format_seconds(seconds: float | None) -> str:
    """``12 ms`` below a second, ``1.3 s`` from there on, nothing for None."""
    if seconds is None:
        return ""
    return f"{seconds * 1000:.0f} ms" if seconds < 1 else f"{seconds:.1f} s"


def _cell(text: str) -> str:
    """One line of visible characters: what a check printed may not end the row, the cell or the page's structure."""
    visible = "".join(char if char.isprintable() else " " for char in text)
    line = " ".join(visible.split())
    if len(line) > NOTE_LIMIT:
        line = line[: NOTE_LIMIT - 1] + "…"
    return line.replace("\\", "\\\\").replace("|", "\\|")


def read_table(table: Table) -> tuple[Outcome, ...]:
    """The rows that are outcomes; a row a person wrote in another way is left alone and not counted."""
    return tuple(outcome for row in table.rows if (outcome := read_row(row)) is not None)


def read_row(row: Row) -> Outcome | None:
    """The outcome in one row, or None."""
    padded = [cell.replace("\\\\", "\\") for cell in (*row.cells, *("",) * len(COLUMNS))]
    when, verdict, check, exit_code, seconds, environment, note = padded[: len(COLUMNS)]
    found = _VERDICT.fullmatch(verdict)
    if not found:
        return None
    return Outcome(
        when=when,
        verdict=Verdict(found.group(1)),
        check=check,
        exit_code=int(exit_code) if re.fullmatch(r"-?\d+", exit_code) else None,
        seconds=_seconds(seconds),
        environment=environment,
        note=note,
        count=max(1, int(found.group(2) or 1)),
    )


def _seconds(text: str) -> float | None:
    found = _TIME.fullmatch(text)
    if not found:
        return None
    return float(found.group(1)) / (1000 if found.group(2) == "ms" else 1)


def tally(outcomes: tuple[Outcome, ...], check: str | None = None) -> Tally:
    """Outcomes counted; with a check's digest only those of that check (older ones are stale)."""
    counted = [outcome for outcome in outcomes if check is None or outcome.check == check]
    count = {verdict: sum(o.count for o in counted if o.verdict is verdict) for verdict in Verdict}
    last = counted[-1] if counted else None
    return Tally(
        confirmed=count[Verdict.CONFIRMED],
        refuted=count[Verdict.REFUTED],
        inconclusive=count[Verdict.INCONCLUSIVE],
        last_when=last.when if last else None,
        last_verdict=last.verdict if last else None,
    )

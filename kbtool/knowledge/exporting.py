"""Entries written as the three-column table, as CSV and as JSON lines.

The table is for people and holds what it says, three columns; CSV holds the parts of an entry; JSON lines hold the files themselves, so
that import restores every byte.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterable
from typing import Any

from kbtool.knowledge.tables import CAUSE, COLUMNS, FIX, SYMPTOM, VERIFY
from kbtool.model import Entry

CHINESE = {SYMPTOM: "故障现象", CAUSE: "根因模式", VERIFY: "验证命令"}
"""Headings of a table in Chinese."""

THREE = (SYMPTOM, CAUSE, VERIFY)

CSV_PARTS = ("id", "domain", "title", SYMPTOM, CAUSE, VERIFY, "confirms", "needs", FIX, "tags", "family", "applies_to", "status", "created")

_EXCEPTION_LINE = re.compile(r"\s*[\w.]*(?:Error|Exception|Warning)\b")


def write_table(entries: Iterable[Entry], *, chinese: bool = False) -> str:
    """The three-column table in Markdown."""
    names = [CHINESE[name] if chinese else COLUMNS[name][0] for name in THREE]
    lines = ["| " + " | ".join(names) + " |", "| --- | --- | --- |"]
    lines += ["| " + " | ".join(_table_cell(cell) for cell in three_columns(entry)) + " |" for entry in entries]
    return "\n".join(lines) + "\n"


def three_columns(entry: Entry) -> tuple[str, str, str]:
    """Phenomenon, pattern and check, each on one line; the last line of a symptom tells most."""
    lines = [line for line in entry.symptoms[0].split("\n") if line.strip()]
    symptom = next((line for line in reversed(lines) if _EXCEPTION_LINE.match(line)), lines[-1]).strip()
    check = entry.check
    command = "" if check is None else f"assert {check.command}" if check.language == "python" and check.confirms == "false" else check.command
    return code_span(symptom), entry.pattern, code_span(command) if command else ""


def code_span(text: str) -> str:
    """`text` as a code span that no backtick in it ends."""
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    marks = "`" * (longest + 1)
    pad = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{marks}{pad}{text}{pad}{marks}"


def _table_cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def write_csv(entries: Iterable[Entry]) -> str:
    """A CSV file that `import` reads back to the same entries."""
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow([COLUMNS[name][0] for name in CSV_PARTS])
    for entry in entries:
        parts = entry_parts(entry)
        writer.writerow([parts.get(name, "") for name in CSV_PARTS])
    return out.getvalue()


def entry_parts(entry: Entry) -> dict[str, str]:
    """The parts of an entry as one text each."""
    check = entry.check
    return {
        "id": entry.id,
        "domain": entry.domain,
        "title": entry.title,
        SYMPTOM: entry.symptoms[0],
        CAUSE: entry.root_cause,
        VERIFY: "" if check is None else f"```python\n{check.command}\n```" if check.language == "python" else check.command,
        "confirms": (check.confirms or "") if check else "",
        "needs": ", ".join(check.needs) if check else "",
        FIX: entry.fix,
        "tags": ", ".join(entry.tags),
        "family": entry.family or "",
        "applies_to": ", ".join(entry.applies_to),
        "status": entry.status.value,
        "created": entry.created or "",
    }


def write_jsonl(entries: Iterable[tuple[Entry, str]]) -> str:
    """One JSON object a line: the parts for programs, and the file's text, from which import restores every byte."""
    return "".join(json.dumps({**_json_parts(entry), "text": text}, ensure_ascii=False) + "\n" for entry, text in entries)


def _json_parts(entry: Entry) -> dict[str, Any]:
    check = entry.check
    return {
        "id": entry.id,
        "domain": entry.domain,
        "title": entry.title,
        "symptom": list(entry.symptoms),
        "root_cause": entry.root_cause,
        "verify": check.command if check else None,
        "language": check.language if check else None,
        "confirms": check.confirms if check else None,
        "needs": list(check.needs) if check else [],
        "fix": entry.fix,
        "tags": list(entry.tags),
        "family": entry.family,
        "applies_to": list(entry.applies_to),
        "status": entry.status.value,
        "created": entry.created,
    }

"""From a match to the job that `kb run` watched: its check runs in that job's folder, with its interpreter and its variables.

What was hidden in the record stays out: a placeholder must not reach the check in place of the real value.
"""

from __future__ import annotations

import json
import os
import re
import sqlite3
from pathlib import Path
from typing import Any

from kbtool.journal.journal import open_journal
from kbtool.knowledge.redaction import PLACEHOLDER
from kbtool.verification.shell import RunContext

RECORD = "run.json"
"""The file in a run's folder that says how the job was started."""


def run_context(match_id: int | None) -> RunContext | None:
    """The surroundings of the job whose failure the match `match_id` was about; None where `kb run` had no part in it."""
    folder = _run_folder(match_id)
    return context_of(folder) if folder is not None else None


def _run_folder(match_id: int | None) -> Path | None:
    if match_id is None:
        return None
    with open_journal() as journal:
        try:
            found = journal.connection.execute("select folder from runs where match_id = ? order by id desc", (match_id,)).fetchone()
        except sqlite3.Error:
            return None
    return Path(found[0]) if found else None


def context_of(folder: Path) -> RunContext | None:
    """What a run's record says of its surroundings; None where it can not be read."""
    try:
        record: Any = json.loads((folder / RECORD).read_bytes())
        variables = {str(name): _at_home(str(value)) for name, value in dict(record.get("variables") or {}).items()}
        kept = {name: value for name, value in variables.items() if not PLACEHOLDER.search(value)}
        return RunContext(_at_home(record.get("cwd") or ""), _at_home(record.get("interpreter") or ""), kept)
    except (OSError, ValueError, TypeError, AttributeError):
        return None


def _at_home(text: str) -> str:
    """Paths below the home folder are recorded with a tilde, so that a record can be shown."""
    return re.sub(r"(^|:)~(?=/)", lambda found: found.group(1) + os.path.expanduser("~"), text)

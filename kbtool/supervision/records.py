"""What is kept of each run, in the state folder: one folder a run, redacted, capped in number and size.

A run without a writable state folder is a run without a record: the job matters more.
"""

from __future__ import annotations

import contextlib
import json
import os
import shlex
import shutil
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from kbtool import settings
from kbtool.durable import write_atomically

RUNS_KEPT = 50
"""Newest runs kept."""

BYTES_KEPT = 256 << 20
"""All runs together; the oldest go first."""

SUMMARY, OUTPUT, REPORT = "run.json", "output.txt", "report.json"


@dataclass(frozen=True)
class RunRecord:
    """One run as a person or another command looks back at it."""

    folder: Path
    command: tuple[str, ...]
    cwd: Path
    started: str
    """UTC, ``2026-11-30 16:20:05Z``."""
    pid: int
    seconds: float | None = None
    """Wall time; None while it runs, or when kb was killed."""
    exit_code: int | None = None
    """As a shell shows it: 128 + signal for a job that a signal ended."""
    signal: str | None = None
    interpreter: str | None = None
    """The first Python of the job: where its checks should run."""
    variables: Mapping[str, str] = field(default_factory=dict)
    """The chosen environment variables of that Python."""
    versions: Mapping[str, str] = field(default_factory=dict)
    """Versions of the packages that the job imported."""
    stalls: tuple[str, ...] = ()
    """Classes of the stalls that were declared."""
    matches: tuple[str, ...] = ()
    """Entries that explained it, best first."""

    @property
    def output_path(self) -> Path:
        """The kept beginning and end of what the job printed."""
        return self.folder / OUTPUT

    @property
    def report_path(self) -> Path:
        """The whole report: stalls with stacks, imports, timeline."""
        return self.folder / REPORT


def shown(command: Sequence[str]) -> str:
    """A command as one would type it."""
    return shlex.join(command)


def runs_folder() -> Path:
    """Where all runs are kept."""
    return settings.state_folder() / "runs"


def new_folder() -> Path:
    """A folder for a run that starts now, after old ones made room. Raises OSError when nothing can be written."""
    root = runs_folder()
    root.mkdir(parents=True, exist_ok=True, mode=0o700)
    with contextlib.suppress(OSError):
        make_room(root)
    folder = root / f"{time.strftime('%Y%m%dT%H%M%S', time.gmtime())}-{os.getpid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    return folder


def make_room(root: Path, *, runs: int = RUNS_KEPT, size: int = BYTES_KEPT) -> None:
    """Remove the oldest runs until fewer than `runs` with less than `size` bytes are left; a run that still goes on stays."""
    folders = sorted((path for path in root.iterdir() if path.is_dir()), reverse=True)
    total = 0
    for number, folder in enumerate(folders, 1):
        total += sum(file.stat().st_size for file in folder.iterdir())
        if (number >= runs or total > size) and not _goes_on(folder):
            shutil.rmtree(folder, ignore_errors=True)


def _goes_on(folder: Path) -> bool:
    pid = folder.name.rpartition("-")[2]
    ended = (folder / SUMMARY).exists() and json.loads((folder / SUMMARY).read_bytes()).get("seconds") is not None
    return not ended and pid.isdigit() and os.path.exists(f"/proc/{pid}")


def save(record: RunRecord) -> None:
    """Write the summary of a run. Raises OSError."""
    values = {**asdict(record), "cwd": str(record.cwd)}
    del values["folder"]
    write_json(record.folder / SUMMARY, values)


def write_json(path: Path, value: object) -> None:
    """Write a value as redacted JSON. Raises OSError."""
    write_text(path, json.dumps(value, ensure_ascii=True, indent=1) + "\n")


def write_text(path: Path, text: str) -> None:
    """Write a text without its secrets. Raises OSError."""
    from kbtool.knowledge.redaction import redact

    write_atomically(path, redact(text).text.encode("utf-8", "replace"), mode=0o600)


def redact_files(folder: Path) -> None:
    """Take the secrets out of what the job's processes wrote themselves; empty files go."""
    for path in folder.iterdir():
        if path.name.startswith(("record-", "stacks-")):
            with contextlib.suppress(OSError):
                if path.stat().st_size:
                    write_text(path, path.read_text(encoding="utf-8", errors="replace"))
                else:
                    path.unlink()


def read(folder: Path) -> RunRecord:
    """The summary of the run kept in `folder`. Raises OSError or ValueError when it can not be read."""
    values: dict[str, Any] = json.loads((folder / SUMMARY).read_bytes())
    known = {name: values[name] for name in RunRecord.__dataclass_fields__ if name in values}
    for name in ("command", "stalls", "matches"):
        known[name] = tuple(known.get(name, ()))
    return RunRecord(**{**known, "folder": folder, "cwd": Path(known["cwd"])})


def all_runs() -> Sequence[RunRecord]:
    """The kept runs, newest first; what can not be read is left out."""
    found: list[RunRecord] = []
    with contextlib.suppress(OSError):
        for folder in sorted(runs_folder().iterdir(), reverse=True):
            with contextlib.suppress(OSError, ValueError, TypeError, KeyError):
                found.append(read(folder))
    return found

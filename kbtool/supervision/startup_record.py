"""The startup record, kb's side: how it gets into the job's Python processes, and what is read from their lines.

The injected files are copied into the state folder first, so that the bytecode that Python writes beside them lands there too.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kbtool import settings
from kbtool.durable import write_atomically

SOURCE = Path(__file__).with_name("injected")
FILES = ("sitecustomize.py", "kb_startup_record.py")

RANK_VARIABLES = ("RANK", "SLURM_PROCID", "OMPI_COMM_WORLD_RANK")
"""Where launchers write a process's rank; the first that holds a number counts."""

_VARIABLE = re.compile(r"\b[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+\b")
_PATH = re.compile(r"(?<![\w.])/[^\s'\",:;()]+")
_READ_LIMIT = 4 << 20


@dataclass
class Failure:
    """An exception that left the import of a module; whoever imported the outermost of `modules` may have swallowed it."""

    module: str
    type: str
    text: str
    at: str
    """Where it was raised: ``file:line in function``."""
    imported_by: str
    """Where the outermost of `modules` was imported: there it was swallowed, or the process ended."""
    seconds: float
    """After the start of its process."""
    modules: list[str] = field(default_factory=list)
    """The modules whose import it ended, innermost first."""
    names: tuple[str, ...] = ()
    """Environment variables and files that it names."""


@dataclass(frozen=True)
class Importing:
    """A module whose import has begun and not ended, with those it waits in."""

    module: str
    since: float
    """Unix time at which its import began."""
    chain: tuple[str, ...] = ()
    """Outermost first, the module itself last."""


@dataclass
class ProcessRecord:
    """What one Python process has told about itself so far."""

    pid: int
    path: Path
    start: dict[str, Any] = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=dict)
    failures: list[Failure] = field(default_factory=list)
    missing: set[str] = field(default_factory=set)
    stacks_signal: int | None = None
    stacks_descriptor: int | None = None
    importing: dict[int, list[tuple[str, float]]] = field(default_factory=dict)
    """By thread (0 is the main one): modules being imported, outermost first, with the second each began."""
    _offset: int = 0
    _partial: bytes = b""

    @property
    def stacks_path(self) -> Path:
        """The file that this process's faulthandler writes to."""
        return self.path.with_name(f"stacks-{self.pid}.txt")

    @property
    def variables(self) -> dict[str, str]:
        """Chosen environment variables; kb's own folder is taken out of PYTHONPATH again."""
        kept = dict(self.start.get("variables", {}))
        paths = [path for path in kept.pop("PYTHONPATH", "").split(os.pathsep) if path and not os.path.exists(os.path.join(path, FILES[1]))]
        return {**kept, "PYTHONPATH": os.pathsep.join(paths)} if paths else kept

    @property
    def rank(self) -> int | None:
        """The process's rank in its job, when the variables say so."""
        for name in RANK_VARIABLES:
            value = self.variables.get(name, "")
            if value.isdigit():
                return int(value)
        return None

    def in_progress(self) -> Importing | None:
        """The import that is going on, the main thread's first."""
        for thread in sorted(self.importing, key=lambda number: number != 0):
            stack = self.importing[thread]
            if stack:
                began = float(self.start.get("time", 0.0)) + stack[-1][1]
                return Importing(stack[-1][0], began, tuple(module for module, _ in stack))
        return None

    def update(self) -> None:
        """Read what was appended since the last time."""
        with contextlib.suppress(OSError), open(self.path, "rb") as file:
            file.seek(self._offset)
            data = file.read(_READ_LIMIT)
            self._offset += len(data)
            *lines, self._partial = (self._partial + data).split(b"\n")
            for line in lines:
                self._take(line)

    def _take(self, line: bytes) -> None:
        try:
            event = json.loads(line)
            handler = _HANDLERS.get(event["e"])
            if handler is not None:
                handler(self, event)
        except (ValueError, KeyError, TypeError, AttributeError):
            return  # a line torn by a full disk or a crash tells nothing, and hides no other

    def _started(self, event: dict[str, Any]) -> None:
        """Also after an exec: the same process number is another program from here on."""
        self.start = event
        self.importing.clear()
        self.stacks_signal = None

    def _stacks(self, event: dict[str, Any]) -> None:
        self.stacks_signal, self.stacks_descriptor = int(event["signal"]), int(event["descriptor"])

    def _import_begins(self, event: dict[str, Any]) -> None:
        stack = self.importing.setdefault(event.get("th", 0), [])
        del stack[event["d"] - 1 :]
        stack.append((event["m"], event["t"]))

    def _import_ends(self, event: dict[str, Any]) -> None:
        del self.importing.setdefault(event.get("th", 0), [])[event["d"] - 1 :]

    def _version(self, event: dict[str, Any]) -> None:
        self.versions[event["m"]] = event["version"]

    def _is_missing(self, event: dict[str, Any]) -> None:
        self.missing.add(event["m"])

    def _failed(self, event: dict[str, Any]) -> None:
        names = [event[kind] for kind in ("variable", "file") if kind in event]
        for name in (*_VARIABLE.findall(event["text"]), *_PATH.findall(event["text"])):
            if name not in names:
                names.append(name)
        self.failures.append(
            Failure(event["m"], event["type"], event["text"], event["at"], event["by"], event["t"], [event["m"]], tuple(names[:5]))
        )

    def _passed_on(self, event: dict[str, Any]) -> None:
        if self.failures:
            self.failures[-1].modules.append(event["m"])
            self.failures[-1].imported_by = event["by"]


_HANDLERS = {
    "start": ProcessRecord._started,
    "stacks": ProcessRecord._stacks,
    "i": ProcessRecord._import_begins,
    "o": ProcessRecord._import_ends,
    "v": ProcessRecord._version,
    "m": ProcessRecord._is_missing,
    "x": ProcessRecord._failed,
    "p": ProcessRecord._passed_on,
}


class StartupRecords:
    """The records of all processes of a run, kept up to date by `update`."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.by_pid: dict[int, ProcessRecord] = {}

    def update(self) -> None:
        """Look for new records and read on in the known ones."""
        with contextlib.suppress(OSError):
            for entry in os.scandir(self.folder):
                pid = entry.name[len("record-") : -len(".jsonl")]
                if entry.name.startswith("record-") and pid.isdigit() and int(pid) not in self.by_pid:
                    self.by_pid[int(pid)] = ProcessRecord(int(pid), Path(entry.path))
        for record in self.by_pid.values():
            record.update()

    def failures(self) -> list[Failure]:
        """Exceptions that imports raised, over all processes: the newest first, each kind once."""
        found = {(failure.module, failure.type, failure.text): failure for record in self.by_pid.values() for failure in record.failures}
        return sorted(found.values(), key=lambda failure: -failure.seconds)

    def versions(self) -> dict[str, str]:
        """Package versions as the job imported them."""
        return {name: version for record in self.by_pid.values() for name, version in record.versions.items()}


def prepare(environment: Mapping[str, str], folder: Path) -> dict[str, str]:
    """The job's environment with the startup record switched on, its files going to `folder`.

    Raises OSError when the state folder can not be written.
    """
    place = _installed()
    paths = [str(place), *([environment["PYTHONPATH"]] if environment.get("PYTHONPATH") else [])]
    return {**environment, "PYTHONPATH": os.pathsep.join(paths), "KB_RUN_FOLDER": str(folder)}


def _installed() -> Path:
    """The folder with the injected files, one for each version of them."""
    contents = {name: (SOURCE / name).read_bytes() for name in FILES}
    digest = hashlib.sha256(b"\0".join(contents.values())).hexdigest()[:12]
    place = settings.state_folder() / "startup" / digest
    if not all((place / name).exists() for name in FILES):
        place.mkdir(parents=True, exist_ok=True)
        for name, content in contents.items():
            write_atomically(place / name, content, mode=0o644)
    return place

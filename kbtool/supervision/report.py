"""What a run has shown, as data: stalls, imports, timeline, answers; and the JSON that `--json-report` writes (schema 1)."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any

from kbtool.model import Answer, Match
from kbtool.supervision.stacks import StackGroup, telling_frame
from kbtool.supervision.startup_record import Failure, Importing
from kbtool.supervision.verdict import StallClass

SCHEMA = 1
STACK_DEPTH = 40


@dataclass(frozen=True)
class Moment:
    """One point of the timeline. `at` is seconds after the start."""

    at: float
    event: str
    detail: str = ""


@dataclass(frozen=True)
class Stall:
    """A declared stall: which kind, since how many seconds, on which signs, and where everybody stood."""

    kind: StallClass
    seconds: float
    evidence: tuple[str, ...]
    groups: tuple[StackGroup, ...] = ()
    importing: Importing | None = None
    suspects: tuple[Failure, ...] = ()
    """Exceptions that imports raised before it, the newest first."""
    notes: tuple[str, ...] = ()
    last_output: tuple[str, ...] = ()
    """The last lines that the job printed: a prompt that waits, a phase that was announced."""
    answer: Answer | None = None

    def question(self) -> str:
        """What the base is asked: exceptions, stacks as faulthandler writes them, and the last output; kb's own words would only blur it."""
        lines = [f"{failure.type}: {failure.text}" for failure in self.suspects]
        for group in self.groups:
            lines += ["Thread 0x0000000000000000 (most recent call first):", *_frame_lines(group)]
        return "\n".join([*lines, *self.last_output]) + "\n"

    def text(self) -> str:
        """The verdict, its evidence and the stacks as text, kept in the run's folder."""
        lines = [f"kb: stalled ({self.kind.value}) for {self.seconds:.0f} s", *self.evidence, *self.notes]
        for failure in self.suspects:
            lines.append(f"{failure.type}: {failure.text}")
        for group in self.groups:
            lines += ["", f"{who(group)} (most recent call first):", *_frame_lines(group)]
        if self.last_output:
            lines += ["", "last output:", *self.last_output]
        return "\n".join(lines) + "\n"

    def headline(self) -> str:
        """The place that tells most: the odd one's innermost frame of the job's own code."""
        frame = telling_frame(self.groups[0].frames) if self.groups else None
        return str(frame) if frame else ""


@dataclass
class Report:
    """The whole of a run."""

    exit_code: int | None = None
    signal: str | None = None
    stalls: list[Stall] = field(default_factory=list)
    timeline: list[Moment] = field(default_factory=list)
    in_progress: Importing | None = None
    failures: list[Failure] = field(default_factory=list)
    missing_modules: int = 0
    ending: list[str] = field(default_factory=list)
    """Sentences about how it ended: the signal and the evidence for its cause."""
    answer: Answer | None = None

    def to_json(self) -> dict[str, Any]:
        """Schema 1; fields are only ever added."""
        return {
            "schema": SCHEMA,
            "exit_code": self.exit_code,
            "signal": self.signal,
            "stalls": [_stall(stall) for stall in self.stalls],
            "imports": {
                "in_progress": _importing(self.in_progress),
                "swallowed": [_failure(failure) for failure in self.failures],
                "missing": self.missing_modules,
            },
            "timeline": [{"at": round(moment.at, 2), "event": moment.event, "detail": moment.detail} for moment in self.timeline],
            "ending": list(self.ending),
            "matches": _matches(self.answer),
        }


def _frame_lines(group: StackGroup) -> list[str]:
    return [f'  File "{frame.file}", line {frame.line} in {frame.function}' for frame in group.frames]


def who(group: StackGroup) -> str:
    """The members of a group in words: ``rank 3 (PID 71, MainThread)``, or a count and the first few."""
    named = [
        f"rank {one.rank} (PID {one.pid}, {one.thread})" if one.rank is not None else f"PID {one.pid}, {one.thread}"
        for one in group.members
    ]
    if len(named) == 1:
        return named[0]
    more = f" and {len(named) - 3} more" if len(named) > 3 else ""
    return f"{len(named)} threads: {'; '.join(named[:3])}{more}"


def _stall(stall: Stall) -> dict[str, Any]:
    return {
        "class": stall.kind.value,
        "seconds": round(stall.seconds, 1),
        "evidence": list(stall.evidence),
        "stacks": [_group(group) for group in stall.groups],
        "importing": _importing(stall.importing),
        "suspects": [_failure(failure) for failure in stall.suspects],
        "notes": list(stall.notes),
        "matches": _matches(stall.answer),
    }


def _group(group: StackGroup) -> dict[str, Any]:
    return {
        "members": [{"pid": one.pid, "rank": one.rank, "thread": one.thread} for one in group.members],
        "main": group.main,
        "frames": [{"function": frame.function, "file": frame.file, "line": frame.line} for frame in group.frames[:STACK_DEPTH]],
    }


def _importing(importing: Importing | None) -> dict[str, Any] | None:
    if importing is None:
        return None
    return {"module": importing.module, "seconds": round(time.time() - importing.since, 1), "chain": list(importing.chain)}


def _failure(failure: Failure) -> dict[str, Any]:
    return {
        "module": failure.module,
        "type": failure.type,
        "message": failure.text,
        "at": failure.at,
        "imported_by": failure.imported_by,
        "passed": failure.modules[1:],
        "names": list(failure.names),
    }


def _matches(answer: Answer | None) -> list[dict[str, Any]]:
    return [_match(match) for match in answer.matches] if answer else []


def _match(match: Match) -> dict[str, Any]:
    return {
        "id": match.id,
        "title": match.title,
        "domain": match.domain,
        "score": round(match.score, 3),
        "confidence": match.confidence.value,
        "root_cause": match.root_cause,
        "verify": match.verify,
        "fix": match.fix,
        "path": match.path,
    }

"""The metrics a job prints (step, loss, gradient norm, learning rate, throughput) as a heartbeat, and what in them deserves a word.

Only tables: a new framework's wording is one more row.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

_NUMBER = r"(?P<value>[-+]?(?:\d[\d,_]*\.?\d*(?:e[-+]?\d+)?|\.\d+|(?:nan|inf(?:inity)?)(?!\w)))"
_IS = r"['\"]?\s*(?:[:=]|is|to|\s)\s*"

METRICS: tuple[tuple[str, str], ...] = (
    (
        "step",
        rf"(?<![\w/])(?:global[_ -]?step|training[_ -]?step|train[_ -]?iter|step|iteration|iter|it|batch){_IS}\[?\s*{_NUMBER}(?![\w.]*\s*(?:ms|s)\b)",
    ),
    ("step", r"(?<![\w.])(?P<value>\d+)/\d+ \[\d+:\d\d"),
    ("epoch", rf"(?<![\w/])epoch{_IS}\[?\s*{_NUMBER}"),
    ("loss", rf"(?<![\w/])(?:train[_/ -]?|training[_ -])?loss{_IS}(?:tensor\()?{_NUMBER}"),
    ("grad norm", rf"(?<!\w)grad(?:ient)?[_ -]?norm{_IS}(?:tensor\()?{_NUMBER}"),
    ("learning rate", rf"(?<!\w)(?:lr|learning[_ -]?rate){_IS}{_NUMBER}"),
    ("loss scale", rf"(?<!\w)(?:loss[_ -]?scale|grad[_ -]?scale){_IS}{_NUMBER}"),
    ("throughput", rf"(?<!\w){_NUMBER}\s*(?:it/s|samples?/s(?:ec)?|tokens?/s(?:ec)?|examples?/s|img/s)(?!\w)"),
)
"""Name of a metric and how a line shows its value; the first row of a name that finds one counts."""

PHASES: tuple[tuple[str, str], ...] = (
    ("load", r"loading checkpoint shards|loading (?:the )?(?:model|weights|dataset|data\b)|downloading|generating \w+ split|tokenizing"),
    ("compile", r"torch\.?compile|compiling|building extension module|autotun|tracing graph|warming up"),
    ("evaluation", r"running (?:evaluation|prediction)|\bevaluat(?:e|ing|ion)\b|\bvalidat(?:e|ing|ion)\b"),
    ("checkpoint", r"saving (?:the |a )?(?:model|checkpoint|state)|checkpoint (?:saved|written)|writing checkpoint"),
)
"""A phase of the job and the words that announce it; a line with a step is the phase `train`."""

_HINTS = re.compile(r"loss|step|iter|epoch|norm|lr|rate|scale|/s\b|\d/\d+ \[|\bit\b|batch|reducing", re.IGNORECASE)
_METRICS = tuple((name, re.compile(pattern, re.IGNORECASE)) for name, pattern in METRICS)
_PHASES = tuple((name, re.compile(pattern, re.IGNORECASE)) for name, pattern in PHASES)
_BREAKS = re.compile(r"[\r\n]+")

LINE_LIMIT = 400
SCAN_LIMIT = 32 << 10
"""Bytes of new output read for metrics at a time: the newest."""

LINES_LIMIT = 200
"""Lines read at a time: a job that prints more than this between two looks needs no finer heartbeat."""

COLLAPSED_SCALE = 1.0
SLOWER = 3.0
"""A step that takes this many times as long as the early ones is worth a word."""

_EARLY, _RECENT = 10, 5


@dataclass
class Heartbeat:
    """What the output has shown of the training so far."""

    values: dict[str, float] = field(default_factory=dict)
    """The last value of each metric."""
    phase: str = "start"
    said: set[str] = field(default_factory=set)
    _step_at: float | None = None
    _durations: list[float] = field(default_factory=list)

    def read(self, new: bytes, now: float) -> Iterator[tuple[str, str]]:
        """Take in new output; yields what happened: (``phase``, name) or (``nan`` | ``loss scale`` | ``slower``, a sentence), each once."""
        for line in _BREAKS.split(new[-SCAN_LIMIT:].decode("utf-8", "replace"))[-LINES_LIMIT:]:
            line = line[:LINE_LIMIT]
            found = dict(metrics_of(line))
            self.values.update(found)
            yield from self._phase(line, found)
            yield from self._remarks(found, now)

    def _phase(self, line: str, found: dict[str, float]) -> Iterator[tuple[str, str]]:
        phase = phase_of(line) or ("train" if "step" in found or "loss" in found else None)
        if phase is not None and phase != self.phase:
            self.phase = phase
            yield "phase", phase

    def _remarks(self, found: dict[str, float], now: float) -> Iterator[tuple[str, str]]:
        for name in ("loss", "grad norm"):
            if name in found and not math.isfinite(found[name]) and self._first(f"{name} not finite"):
                yield "nan", f"{name} is {found[name]}{self._where()}"
        if found.get("loss scale", math.inf) < COLLAPSED_SCALE and self._first("loss scale"):
            yield "loss scale", f"the loss scale has fallen to {found['loss scale']:g}{self._where()}: gradients overflow at every step"
        if "step" in found and self._slower(now) and self._first("slower"):
            yield "slower", f"steps take {self._recent() / self._early():.1f} times as long as at the beginning{self._where()}"

    def _first(self, what: str) -> bool:
        new = what not in self.said
        self.said.add(what)
        return new

    def _where(self) -> str:
        return f" at step {self.values['step']:g}" if "step" in self.values else ""

    def _slower(self, now: float) -> bool:
        if self._step_at is not None and now > self._step_at:
            self._durations.append(now - self._step_at)
            del self._durations[_EARLY:-_RECENT]
        self._step_at = now
        return len(self._durations) >= _EARLY + _RECENT and self._early() > 0.5 and self._recent() > SLOWER * self._early()

    def _early(self) -> float:
        return sorted(self._durations[:_EARLY])[_EARLY // 2]

    def _recent(self) -> float:
        return min(self._durations[-_RECENT:])


def metrics_of(line: str) -> Iterator[tuple[str, float]]:
    """The metrics that a line shows."""
    if not _HINTS.search(line):
        return
    seen = set()
    for name, pattern in _METRICS:
        match = pattern.search(line) if name not in seen else None
        if match:
            seen.add(name)
            yield name, float(match["value"].replace(",", "").replace("_", "").rstrip("."))


def phase_of(line: str) -> str | None:
    """The phase that a line announces."""
    return next((name for name, pattern in _PHASES if pattern.search(line)), None)

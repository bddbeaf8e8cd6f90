"""The words of kb: what an entry, a check, an outcome and an answer are.

Plain frozen data, no behaviour beyond what follows from the data itself. Every layer speaks in these types. They are named tuples because
every start pays for making the classes, and a dataclass costs four times as much.
"""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from typing import NamedTuple

from kbtool.patterns import Pattern


class Status(str, Enum):
    """Where an entry stands in its life: a draft is matched but never strong, a retired one only with ``--all``."""

    DRAFT = "draft"
    ACTIVE = "active"
    RETIRED = "retired"


class Verdict(str, Enum):
    """What a check said. Whatever kept it from answering is inconclusive, never refuted."""

    CONFIRMED = "confirmed"
    REFUTED = "refuted"
    INCONCLUSIVE = "inconclusive"


class Confidence(str, Enum):
    """How sure an answer is: `strong` promises to be right 95 times in 100, `possible` is an honest hint."""

    STRONG = "strong"
    POSSIBLE = "possible"


class Phase(str, Enum):
    """Where in the life of a program it failed, read from the frames of its traceback."""

    IMPORT = "import"
    LOAD = "load"
    DATA = "data"
    FORWARD = "forward"
    LOSS = "loss"
    BACKWARD = "backward"
    STEP = "step"
    CHECKPOINT = "checkpoint"
    SERVE = "serve"
    UNKNOWN = "unknown"


DEFAULT_TIMEOUT = 10.0
"""Seconds a check may take when its entry names no timeout."""


class Check(NamedTuple):
    """The one line that tells whether a cause is really present, and how to read its result.

    `language` is ``sh`` (run by /bin/sh) or ``python`` (one expression over the failed program's values).
    `timeout` is in seconds.
    """

    command: str
    language: str = "sh"
    confirms: str | None = None
    needs: tuple[str, ...] = ()
    timeout: float = DEFAULT_TIMEOUT

    @property
    def digest(self) -> str:
        """Eight hex digits over command, language, confirms, needs and timeout; outcomes carry it, so that older ones show as stale."""
        import hashlib

        parts = (self.language, self.command, self.confirms or "", "\n".join(self.needs), f"{self.timeout:g}")
        return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:8]


class Outcome(NamedTuple):
    """One row of an entry's Outcomes table: what its check said, when and where."""

    when: str
    """UTC to the minute, ``2026-11-30 16:20Z``."""
    verdict: Verdict
    check: str
    """Digest of the check that ran (`Check.digest`)."""
    exit_code: int | None
    seconds: float | None
    environment: str
    """The short fingerprint, ``linux · py3.11 · torch 2.13.0+cpu · no GPU``."""
    note: str = ""
    count: int = 1  # type: ignore[assignment]
    """How many equal outcomes this row stands for: ranks of one job, or rows folded by a review."""


class Entry(NamedTuple):
    """One known fault, as its Markdown file tells it."""

    id: str
    domain: str
    path: Path
    title: str
    symptoms: tuple[str, ...]
    """Wordings of the same fault: alternatives, not a sum."""
    root_cause: str
    check: Check | None
    fix: str = ""
    not_this: tuple[str, ...] = ()
    """Texts that look like the symptom and are another fault."""
    tags: tuple[str, ...] = ()
    family: str | None = None
    applies_to: tuple[str, ...] = ()
    status: Status = Status.ACTIVE
    created: str | None = None
    outcomes: tuple[Outcome, ...] = ()
    guard: str | None = None
    """The Guard section's text, Markdown as written."""

    @property
    def pattern(self) -> str:
        """The root-cause pattern: the first sentence of the root cause, the middle column of the three-column table."""
        return first_sentence(self.root_cause)


def first_sentence(text: str) -> str:
    """The first sentence of a paragraph on one line; full stops inside names, numbers and code do not end it."""
    line = " ".join(text.strip().split("\n\n")[0].split())
    in_code = False
    for found in _CODE_OR_END.regex.finditer(line):
        if found[0] == "`":
            in_code = not in_code
        elif not in_code:
            return line[: found.end()]
    return line


_CODE_OR_END = Pattern(r"`|[。！？]|[.!?](?= |$)")


class Domain(NamedTuple):
    """A domain page: the keywords that lead to it and what to do first."""

    name: str
    keywords: tuple[str, ...]
    first_action: str
    minimal_check: str = ""
    go_back_when: str = ""
    path: Path | None = None


class Failure(NamedTuple):
    """The first real failure found in a text: what `kb match` reports as ``error``."""

    type: str
    """Exception type or kind of sign (``RuntimeError``, ``SIGKILL``, ``CUDA assert``); may be empty."""
    message: str
    phase: Phase
    rank: int | None
    line: int
    """1-based line of the input where the telling message stands."""
    excerpt: str


class Reason(NamedTuple):
    """Why an entry matched: a line of the input and the tokens of the symptom found in it."""

    line: int
    text: str
    tokens: tuple[str, ...]
    in_other_words: str | None = None
    """What the line says too, where the tokens were found in that: the text of another version or device for the same failure."""


class Tally(NamedTuple):
    """Recorded outcomes of one entry, counted."""

    confirmed: int = 0
    refuted: int = 0
    inconclusive: int = 0
    last_when: str | None = None
    last_verdict: Verdict | None = None


class Match(NamedTuple):
    """One answer: an entry that may explain the failure, how sure, and why."""

    id: str
    title: str
    domain: str
    score: float
    """Calibrated probability of being right, 0 to 1."""
    confidence: Confidence
    root_cause: str
    verify: str
    confirms: str | None
    fix: str
    path: str
    why: tuple[Reason, ...] = ()
    tally: Tally = Tally()
    applies_to: tuple[str, ...] = ()


class Answer(NamedTuple):
    """What `kb match` knows about a text: the failure it found, the entries that explain it, or the domain's first action."""

    failure: Failure | None
    matches: tuple[Match, ...]
    domain: Domain | None = None
    truncated: bool = False
    """True where the input was larger than what could be looked at as a whole."""

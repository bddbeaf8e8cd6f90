"""From a finished check to its verdict: the `confirms` conditions, one small reader for each, in a table.

Rule over all: what kept the check from answering is inconclusive with its reason; only an explicit ``stderr …`` or ``exit N`` may take
such a failure as the answer it looks for.
"""

from __future__ import annotations

import operator
import re
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from kbtool.knowledge.checks import Condition, parse_confirms
from kbtool.model import Check, Verdict
from kbtool.verification.broken import breakage
from kbtool.verification.process import Finished
from kbtool.verification.versions import last_version, version_key

REGEX_SECONDS = 1
REGEX_TEXT = 64 * 1024
"""Limits of a pattern out of an entry, in processor time: it is searched in a process of its own, because Python's engine can not be interrupted."""

REGEX_PATIENCE = 15.0
"""Seconds on the clock after which the search is given up in any case: a crowded machine is slow to give it its second."""

_SEARCH = f"""
import re, sys
try:
    import resource
    resource.setrlimit(resource.RLIMIT_CPU, ({REGEX_SECONDS}, {REGEX_SECONDS + 1}))
except (ImportError, OSError, ValueError):
    pass
pattern, text = sys.stdin.read().split(chr(0), 1)
sys.exit(0 if re.search(pattern, text, re.M) else 1)
"""

EVIDENCE_LIMIT = 120
"""Characters of output that a reason quotes."""

COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
}

_NUMBER = re.compile(r"(?<![\w.])[-+]?(?:\d{1,3}(?:,\d{3})+(?![\d,])|\d+)(?:\.\d+)?(?:[eE][-+]?\d+)?(?!\.?\d)|(?<![\w.])[-+]?inf\b", re.IGNORECASE)


@dataclass(frozen=True)
class Judgement:
    """A verdict and the evidence or obstacle behind it. `needs_person` is True when nothing but a person can tell.

    `ran` is False where what the check needs was not there, so that nothing was tried: such a verdict says nothing about the entry.
    """

    verdict: Verdict
    reason: str
    needs_person: bool = False
    ran: bool = True


def inconclusive(reason: str, *, ran: bool = True) -> Judgement:
    """What kept a check from answering; `ran` is False when it kept the check from running at all."""
    return Judgement(Verdict.INCONCLUSIVE, reason, ran=ran)


def judge(check: Check, finished: Finished, *, missing: Sequence[str] = (), via: str = "") -> Judgement:
    """The verdict on a shell check that ran; `missing` are its commands that this machine does not have."""
    condition = parse_confirms(check.confirms) if check.confirms else None
    reads_output = condition is not None and condition.source in ("stdout", "version")
    broke = breakage(check.command, finished, missing, reads_output=reads_output, via=via)
    if condition is None:
        return inconclusive(broke.reason, ran=broke.ran) if broke else _for_a_person(finished)
    if broke is None:
        return read(condition, finished)
    if broke.ran and is_explicit(condition) and finished.ended in ("exit", "killed"):
        judgement = read(condition, finished)
        if judgement.verdict is Verdict.CONFIRMED:
            return judgement
    return inconclusive(broke.reason, ran=broke.ran)


def is_explicit(condition: Condition) -> bool:
    """True for the conditions that may take a failure of the check itself as their answer."""
    return condition.source == "stderr" or (condition.source == "exit" and condition.operand.isdigit())


def _for_a_person(finished: Finished) -> Judgement:
    shown = finished.stdout.strip() or finished.stderr.strip()
    return Judgement(Verdict.INCONCLUSIVE, f"the entry has no `confirms`; it printed: {_brief(shown) or 'nothing'}", needs_person=True)


def read(condition: Condition, finished: Finished) -> Judgement:
    """What `condition` says of a result."""
    return READERS[condition.source](condition, finished)


def _exit(condition: Condition, finished: Finished) -> Judgement:
    code = finished.exit_code if finished.exit_code is not None else 128 + (finished.signal or 0)
    holds = {"zero": code == 0, "nonzero": code != 0}.get(condition.operand, str(code) == condition.operand)
    return _decided(holds, f"exit {code}")


def _text(condition: Condition, finished: Finished) -> Judgement:
    source = condition.source
    text = finished.stdout if source == "stdout" else finished.stderr
    if condition.operator == "contains":
        holds: bool | None = condition.operand in text
    else:
        holds = search(condition.operand, text)
    if holds is None:
        return inconclusive(f"the pattern of `confirms` took longer than {REGEX_SECONDS} s")
    if holds:
        return _decided(True, f"{source}: {_line_with(condition, text)}")
    return _decided(False, f"{source}: {_brief(text.strip()) or 'nothing'}")


def _number(condition: Condition, finished: Finished) -> Judgement:
    found = _NUMBER.findall(finished.stdout)
    if not found:
        return inconclusive(f"printed no number, and `confirms` needs one: {_brief(finished.stdout.strip()) or 'nothing'}")
    value = float(found[-1].replace(",", ""))
    return _decided(COMPARE[condition.operator](value, float(condition.operand)), f"stdout: {found[-1]}")


def _stdout(condition: Condition, finished: Finished) -> Judgement:
    return _number(condition, finished) if condition.operator in COMPARE else _text(condition, finished)


def _version(condition: Condition, finished: Finished) -> Judgement:
    found = last_version(finished.stdout)
    if found is None:
        return inconclusive(f"printed no version, and `confirms` needs one: {_brief(finished.stdout.strip()) or 'nothing'}")
    return _decided(COMPARE[condition.operator](version_key(found), version_key(condition.operand)), f"version: {found}")


def _value(condition: Condition, finished: Finished) -> Judgement:
    return inconclusive(f"`confirms: {condition.operand}` reads a Python expression, and this check is a shell line")


READERS: dict[str, Callable[[Condition, Finished], Judgement]] = {
    "exit": _exit,
    "stdout": _stdout,
    "stderr": _text,
    "version": _version,
    "value": _value,
}


def judge_value(check: Check, value: Any) -> Judgement:
    """The verdict on a Python expression that was evaluated to `value`; `true` is assumed where the entry does not say."""
    condition = parse_confirms(check.confirms or "true")
    if condition.source == "exit" or condition.source == "stderr":
        return inconclusive(f"`confirms: {check.confirms}` reads a process, and this check is a Python expression")
    if condition.source != "value":
        return read(condition, Finished("exit", 0, None, 0.0, str(value), ""))
    truth = _truth(value)
    if truth is None:
        return inconclusive(f"the expression gives {type(value).__name__} and no true or false; `.any()` or `.all()` may be missing")
    return _decided(truth is (condition.operand == "true"), f"value: {truth}")


def _truth(value: Any) -> bool | None:
    """The truth of a bool or of something that stands for a single one (a tensor or array of one element); None for anything else."""
    if isinstance(value, bool):
        return value
    try:
        return bool(value) if str(getattr(value, "dtype", "")) in ("bool", "torch.bool") else None
    except Exception:  # several elements: ambiguous in NumPy and torch
        return None


def search(pattern: str, text: str) -> bool | None:
    """True where `pattern` is found in the last `REGEX_TEXT` characters of `text`; None when that took too long."""
    data = f"{pattern}\0{text[-REGEX_TEXT:]}".encode("utf-8", "replace")
    try:
        done = subprocess.run(
            [sys.executable, "-I", "-S", "-X", "utf8", "-c", _SEARCH], input=data, capture_output=True, timeout=REGEX_PATIENCE, check=False
        )
    except subprocess.TimeoutExpired:
        return None
    return {0: True, 1: False}.get(done.returncode)


def _decided(holds: bool, reason: str) -> Judgement:
    return Judgement(Verdict.CONFIRMED if holds else Verdict.REFUTED, reason)


def _line_with(condition: Condition, text: str) -> str:
    lines = text.strip().splitlines()
    wanted = condition.operand
    return _brief(next((line for line in lines if wanted in line), lines[-1] if lines else ""))


def _brief(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= EVIDENCE_LIMIT else line[: EVIDENCE_LIMIT - 1] + "…"

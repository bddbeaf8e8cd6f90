"""A stall told to a person: one calm report, the odd stack first, what the base knows, where the rest is kept."""

from __future__ import annotations

from pathlib import Path

from kbtool.cli.render import safe_line
from kbtool.model import first_sentence
from kbtool.supervision.report import Stall, who
from kbtool.supervision.stacks import StackGroup

MEANINGS = {
    "waiting": "nothing moves: it waits",
    "spinning": "it computes, but the same few lines again and again",
    "collective": "a collective waits for a peer",
    "loader": "the data loader delivers nothing",
    "lock": "it waits for a file lock",
    "stopped": "it was stopped by a signal or a debugger",
    "alive": "it is alive, only slow",
}
"""The classes in words."""

SHOWN_FRAMES = 6
SHOWN_GROUPS = 3
SHOWN_FROM = 0.45
"""Probability from which an entry is named beside a stall: stacks of waiting threads have much in common."""


def stall_lines(stall: Stall, place: Path | None, *, stacks: bool) -> list[str]:
    """The report's lines, safe for a terminal; with `stacks` all of them, else the odd one's innermost frames."""
    lines = [f"kb: stalled ({stall.kind.value}): {MEANINGS[stall.kind.value]}"]
    lines += [f"    {safe_line(sentence)[:400]}" for sentence in (*stall.evidence, *stall.notes)]
    shown = stall.groups if stacks else [group for group in stall.groups if group.main][:1]
    for group in shown[: None if stacks else SHOWN_GROUPS]:
        lines += _stack(group, None if stacks else SHOWN_FRAMES)
    lines += _known(stall)
    if place is not None:
        lines.append(f"    all stacks: {safe_line(str(place))}")
    return lines


def _stack(group: StackGroup, depth: int | None) -> list[str]:
    telling = [frame for frame in group.frames if not frame.of_import_system]
    frames = [f"        {safe_line(str(frame))}" for frame in telling[:depth]]
    more = len(telling) - len(frames)
    return [f"    {safe_line(who(group))}:", *frames, *([f"        … {more} more"] if more > 0 else [])]


def _known(stall: Stall) -> list[str]:
    """The best entry in three lines, when it is likely enough."""
    if stall.answer is None:
        return []
    lines = []
    likely = [match for match in stall.answer.matches[:1] if match.score >= SHOWN_FROM]
    for match in likely:
        lines.append(f"    known: {safe_line(match.title)} ({match.id}, {match.confidence.value} {match.score:.0%})")
        lines.append(f"           {safe_line(first_sentence(match.root_cause))}")
        lines.append(f"    next: kb show {match.id}, kb verify {match.id}")
    return lines

"""Asking a person for permission: what is shown is what runs, and nobody is asked who is not there."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from typing import TextIO

from kbtool.cli.render import safe_line, styled
from kbtool.verification.consent import Consent, Permission, Request

_BLANKS = re.compile(r"\s{9,}")
"""Blanks that could push the rest of a command off the screen."""


def at_terminal() -> bool:
    """True when a person can read the question and answer it."""
    return sys.stdin is not None and sys.stdin.isatty() and sys.stderr.isatty()


def show_request(request: Request) -> None:
    """Print a check as it will run, on lines of its own, every character that a terminal would obey made visible."""
    check = request.check
    lines = [f"{request.id}  ({request.path})", f"  {check.language}: {check.command}"]
    if request.via:
        lines.append(f"  via: {request.via}")
    lines.append(f"  confirms: {check.confirms or 'a person judges'}  needs: {', '.join(check.needs) or 'nothing'}  timeout: {check.timeout:g} s")
    for line in lines:
        sys.stderr.write(styled(visible(line), *(["bold"] if line is lines[0] else []), stream=sys.stderr) + "\n")


def visible(line: str) -> str:
    """`line` with nothing hidden: what a terminal would obey is escaped, and a long run of blanks is counted instead of shown."""
    return _BLANKS.sub(lambda run: f"[{len(run.group())} blanks]", safe_line(line))


def ask_consent(requests: Sequence[Request], consent: Consent, *, answers: TextIO | None = None) -> set[Request]:
    """One question for all `requests` that nobody decided about yet; returns those that may run now.

    Without a person at a terminal nothing is asked, and only what was allowed before may run. `answers` is where the person types,
    for a command whose standard input is a log.
    """
    allowed = {request for request in requests if consent.permission(request) is Permission.ALLOWED}
    open_ones = [request for request in requests if consent.permission(request) is Permission.UNKNOWN]
    if not open_ones or not (answers or at_terminal()):
        return allowed
    for request in open_ones:
        show_request(request)
    for request in _chosen(open_ones, answers or sys.stdin):
        consent.allow(request, by="answered at a terminal")
        allowed.add(request)
    return allowed


def _chosen(requests: Sequence[Request], answers: TextIO) -> list[Request]:
    """What the person allows: all, none, or one by one."""
    if len(requests) == 1:
        return list(requests) if _ask("Run this check here? It will be remembered. [y/N] ", answers) == "y" else []
    answer = _ask(f"Run these {len(requests)} checks here? [y: all / o: one by one / N] ", answers)
    if answer == "o":
        return [request for request in requests if _ask(f"{safe_line(request.id)}? [y/N] ", answers) == "y"]
    return list(requests) if answer == "y" else []


def _ask(question: str, answers: TextIO) -> str:
    sys.stderr.write(question)
    sys.stderr.flush()
    return answers.readline().strip().lower()[:1]

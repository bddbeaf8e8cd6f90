"""match --verify: the candidates' checks run, decide, and the answer is printed in the order that they suggest."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator, Sequence
from typing import TextIO

from kbtool.cli.answers import answer_json, print_answer
from kbtool.cli.asking import ask_consent, at_terminal
from kbtool.cli.render import print_json, safe_line, styled, tell
from kbtool.knowledge.layers import Base
from kbtool.model import Answer
from kbtool.verification.consent import Consent, Request
from kbtool.verification.rivals import Settled, settle


def decide(answer: Answer, bases: Sequence[Base], match_id: int | None, *, as_json: bool) -> Answer:
    """Settle `answer` by its checks, print it, and return it re-ranked."""
    settled = settle(answer, bases, ask=_ask, match_id=match_id, excerpt=answer.failure.excerpt if answer.failure else "")
    for attempt in settled.attempts:
        if attempt.problem:
            tell(f"kb: {attempt.problem}", hint=attempt.hint)
        for warning in attempt.warnings:
            tell(f"note: {warning}")
    if as_json:
        print_json(_as_json(settled))
    else:
        _print(settled)
    return settled.answer


def _ask(requests: Sequence[Request], consent: Consent) -> object:
    with _person() as answers:
        return ask_consent(requests, consent, answers=answers)


@contextlib.contextmanager
def _person() -> Iterator[TextIO | None]:
    """Where a person types: standard input, or the terminal itself where standard input is the log; None where nobody is."""
    if at_terminal() or not sys.stderr.isatty():
        yield None
        return
    try:
        terminal = open("/dev/tty", encoding="utf-8", errors="replace")  # noqa: SIM115
    except OSError:
        yield None
        return
    with terminal:
        yield terminal


def _as_json(settled: Settled) -> dict[str, object]:
    document = answer_json(settled.answer)
    for match in document["matches"]:
        verdict = settled.verdicts.get(match["id"])
        match["verdict"] = verdict.value if verdict else None
    return {**document, "verified": settled.sentence}


def _print(settled: Settled) -> None:
    print_answer(settled.answer)
    for attempt in settled.attempts:
        if attempt.result:
            print(safe_line(f"{attempt.result.verdict.value:<13} {attempt.result.id}  {attempt.result.reason}"))
    print(styled(safe_line(settled.sentence), "bold"))

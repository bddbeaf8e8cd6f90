"""An answer shown: as schema 1 of `docs/json.md`, and for a person."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from kbtool.cli.render import safe, safe_line, styled, wrapped
from kbtool.model import Answer, Confidence, Domain, Failure, Match, Tally, first_sentence

if TYPE_CHECKING:
    from kbtool.matching.ranks import RankLog

SCHEMA = 1
LABEL_WIDTH = 9
EXPRESSION_RESULTS = ("true", "false")
"""A check that is confirmed by one of these is an expression over the failed program's values."""

UNLIKELY = 0.3
"""Chance below which even the best answer is only the nearest one, and the domain's first action is shown too."""

WORTH_SHOWING = 0.1
"""Chance from which on a person is shown a rival; JSON has them all."""


def answer_json(answer: Answer) -> dict[str, Any]:
    """The answer as `kb match --json` gives it."""
    return {
        "schema": SCHEMA,
        "error": failure_json(answer.failure),
        "matches": [match_json(match) for match in answer.matches],
        "domain": {"name": answer.domain.name, "first_action": answer.domain.first_action} if answer.domain else None,
        "truncated": answer.truncated,
    }


def failure_json(failure: Failure | None) -> dict[str, Any] | None:
    """The failure that was found in the input."""
    if failure is None:
        return None
    return {
        "type": failure.type,
        "message": failure.message,
        "phase": failure.phase.value,
        "rank": failure.rank,
        "line": failure.line,
        "excerpt": failure.excerpt,
    }


def match_json(match: Match) -> dict[str, Any]:
    """One entry that may explain it."""
    return {
        "id": match.id,
        "title": match.title,
        "domain": match.domain,
        "score": match.score,
        "confidence": match.confidence.value,
        "root_cause": match.root_cause,
        "verify": match.verify,
        "confirms": match.confirms,
        "fix": match.fix,
        "path": match.path,
        "why": [{"line": reason.line, "text": reason.text, "tokens": list(reason.tokens), "in_other_words": reason.in_other_words} for reason in match.why],
        "outcomes": tally_json(match.tally),
    }


def tally_json(tally: Tally) -> dict[str, Any]:
    """Recorded outcomes, counted."""
    last = {"when": tally.last_when, "outcome": tally.last_verdict.value} if tally.last_verdict else None
    return {"confirmed": tally.confirmed, "refuted": tally.refuted, "inconclusive": tally.inconclusive, "last": last}


def ranks_json(ranks: Sequence[RankLog]) -> list[dict[str, Any]]:
    """Several logs of one job: `role` is first, failed, fallout or healthy."""
    return [{"path": log.name, "rank": log.rank, "role": log.role, "time": log.time, "error": failure_json(log.failure)} for log in ranks]


def print_ranks(ranks: Sequence[RankLog]) -> None:
    """One line a log: who failed first, who only followed."""
    for log in ranks:
        failure = f"line {log.failure.line}: {log.failure.type} {log.failure.message}"[:120] if log.failure and log.role != "healthy" else ""
        style = {"first": ("bold", "red"), "failed": ("yellow",)}.get(log.role, ("dim",))
        print(f"{styled(log.role.ljust(8), *style)} {safe_line(log.name)}  {styled(safe_line(failure), 'dim')}".rstrip())
    print()


def print_answer(answer: Answer) -> None:
    """The answer for a person: the failure, the causes with their reasons, and what to type next."""
    if answer.failure:
        _print_failure(answer.failure)
    if answer.matches:
        shown = [match for place, match in enumerate(answer.matches) if place == 0 or match.score >= WORTH_SHOWING]
        if answer.matches[0].score < UNLIKELY:
            print(styled("Nothing known fits well; this is the nearest:\n", "bold"))
        for place, match in enumerate(shown, 1):
            _print_match(place, match)
        if answer.matches[0].score < UNLIKELY and answer.domain:
            _print_first_action(answer.domain)
        _print_next(shown)
    else:
        _print_unknown(answer)
    if answer.truncated:
        print(styled("(the input was larger than what is looked at line by line; its alarming parts, beginning and end were)", "dim"))


def _print_failure(failure: Failure) -> None:
    rank = f" · rank {failure.rank}" if failure.rank is not None else ""
    phase = f" · in {failure.phase.value}" if failure.phase.value != "unknown" else ""
    kind = f"{failure.type}: " if failure.type else ""
    print(styled(safe_line(f"line {failure.line}{rank}{phase}"), "dim"))
    print(styled(safe_line(f"{kind}{failure.message}"[:400]), "bold"))
    print()


def _print_match(place: int, match: Match) -> None:
    colour = "green" if match.confidence is Confidence.STRONG else "yellow"
    print(f"{place}. {styled(safe_line(match.title), 'bold')}")
    print(f"   {styled(safe_line(match.id), 'cyan')} · {safe_line(match.domain)} · {styled(f'{match.confidence.value} {min(match.score, 0.99):.0%}', colour)}")
    for reason in match.why[:2]:
        _field("matched", f"line {reason.line}: {reason.text}"[:220], wrap=False)
        _field("same as", reason.in_other_words or "", wrap=False)
    _field("cause", first_sentence(match.root_cause))
    if match.verify:
        _field("check", match.verify + (f"   → {match.confirms}" if match.confirms else ""), wrap=False)
    _field("fix", " ".join(match.fix.split()))
    if match.tally.confirmed or match.tally.refuted or match.tally.inconclusive:
        _field("earlier", earlier(match.tally))
    print()


def earlier(tally: Tally) -> str:
    """Recorded outcomes in words."""
    counts = [f"{count} × {word}" for count, word in ((tally.confirmed, "confirmed"), (tally.refuted, "refuted"), (tally.inconclusive, "inconclusive")) if count]
    last = f", last {tally.last_verdict.value} {tally.last_when}" if tally.last_verdict else ""
    return ", ".join(counts) + last


def _field(name: str, text: str, *, wrap: bool = True) -> None:
    """A labelled line; prose is wrapped to the terminal, what a person copies (a check, a line of the log) is not."""
    if not text:
        return
    lines = wrapped(safe_line(text), LABEL_WIDTH + 3) if wrap else [safe_line(text)]
    print(f"   {styled(name.ljust(LABEL_WIDTH), 'dim')}{lines[0]}")
    for line in lines[1:]:
        print(" " * (LABEL_WIDTH + 3) + line)


def _print_next(matches: Sequence[Match]) -> None:
    first = matches[0]
    if not first.verify:
        print(f"next: kb show {safe_line(first.id)}")
        return
    asks_all = len(matches) > 1 and first.confirms not in EXPRESSION_RESULTS
    rivals = f"  (`kb verify --all-matched` lets all {len(matches)} checks decide)" if asks_all else ""
    print(f"next: {next_check(first.id, first.confirms)}{rivals}")


def next_check(entry_id: str, confirms: str | None) -> str:
    """The command that runs an entry's check; an expression needs the values of the program that failed."""
    if confirms in EXPRESSION_RESULTS:
        return "kb run --post-mortem -- python …   (the check needs the failed program's values, and is evaluated where it failed)"
    return f"kb verify {safe_line(entry_id)}"


def _print_unknown(answer: Answer) -> None:
    print(styled("Nothing known matches this." if answer.failure else "No failure that kb knows of in this text.", "bold"))
    if answer.domain:
        print()
        _print_first_action(answer.domain)
    print("next: kb triage, and `kb add` when it is solved")
    sys.stdout.flush()


def _print_first_action(domain: Domain) -> None:
    print(f"It looks like {styled(safe_line(domain.name), 'cyan')}. First action:\n")
    print(safe(domain.first_action))
    if domain.minimal_check:
        print("\n" + "\n".join("    " + safe(line) for line in domain.minimal_check.splitlines()))
    print()

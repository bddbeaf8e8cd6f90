"""Several known causes print the same message: the checks of the rivals decide which one it is here.

Text finds candidates, the check finds the truth: a confirmed candidate moves to the top, a refuted one to the bottom.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from kbtool.errors import KbError
from kbtool.knowledge.layers import Base
from kbtool.model import Answer, Confidence, Match, Verdict
from kbtool.verification.consent import Consent, Request
from kbtool.verification.record import load
from kbtool.verification.several import Attempt, Plan, record_all, run_all
from kbtool.verification.shell import Surroundings, surroundings_of
from kbtool.verification.targets import Target

EVIDENCE = 50.0
"""How much a verdict of the check changes the odds that the text alone gives: a confirmation by this factor, a refutation by its inverse."""

STRONG_FROM = 0.95
"""What `strong` promises."""

ORDER = {Verdict.CONFIRMED: 0, None: 1, Verdict.INCONCLUSIVE: 1, Verdict.REFUTED: 2}

Ask = Callable[[Sequence[Request], Consent], object]


@dataclass(frozen=True)
class Settled:
    """An answer after its checks ran: re-ranked, with the verdict for each entry that was checked and one sentence about it all."""

    answer: Answer
    verdicts: Mapping[str, Verdict]
    sentence: str
    attempts: tuple[Attempt, ...] = ()


def settle(
    answer: Answer, bases: Sequence[Base], *, ask: Ask, surroundings: Surroundings | None = None, match_id: int | None = None, excerpt: str = ""
) -> Settled:
    """Run the checks of the answer's candidates, record what they say, and rank the candidates anew.

    `ask` is called once with what needs consent, and may give it; what stays without consent does not run. Nothing is raised for a
    check that can not run: its candidate keeps its place.
    """
    targets = [target for match in answer.matches if (target := _target(match, bases, match_id))]
    plan = Plan(targets, surroundings or surroundings_of(), excerpt=excerpt)
    consent = Consent()
    ask(plan.requests(), consent)
    attempts = record_all(run_all(plan, consent), bases) if targets else []
    verdicts = {attempt.target.entry.id: attempt.result.verdict for attempt in attempts if attempt.result}
    return Settled(rerank(answer, verdicts), verdicts, sentence(len(answer.matches), verdicts), tuple(attempts))


def _target(match: Match, bases: Sequence[Base], match_id: int | None) -> Target | None:
    try:
        base, entry = load(match.id, bases)
    except KbError:
        return None
    answerable = entry.check is not None and entry.check.language == "sh"  # an expression needs the values of the failed program
    return Target(entry, base, match_id) if answerable else None


def rerank(answer: Answer, verdicts: Mapping[str, Verdict]) -> Answer:
    """The answer in the order that the verdicts suggest; within one verdict the text's order stays."""
    matches = [_weighed(match, verdicts.get(match.id)) for match in answer.matches]
    return answer._replace(matches=tuple(sorted(matches, key=lambda match: (ORDER[verdicts.get(match.id)], -match.score))))


def _weighed(match: Match, verdict: Verdict | None) -> Match:
    factor = {Verdict.CONFIRMED: EVIDENCE, Verdict.REFUTED: 1 / EVIDENCE}.get(verdict, 1.0) if verdict else 1.0
    if factor == 1.0:
        return match
    bounded = min(max(match.score, 0.001), 0.999)
    odds = bounded / (1 - bounded) * factor
    score = round(odds / (1 + odds), 4)
    return match._replace(score=score, confidence=Confidence.STRONG if score >= STRONG_FROM else Confidence.POSSIBLE)


def sentence(candidates: int, verdicts: Mapping[str, Verdict]) -> str:
    """What was decided, in one line: ``3 known causes of this message; 1 confirmed here``."""
    if candidates == 0:
        return "no known cause, so nothing was checked"
    causes = "1 known cause" if candidates == 1 else f"{candidates} known causes"
    counted = [(verdict, sum(found is verdict for found in verdicts.values())) for verdict in Verdict]
    said = [f"{count} {verdict.value}" for verdict, count in counted if count]
    unchecked = candidates - len(verdicts)
    said += [f"{unchecked} not checked"] if unchecked else []
    return f"{causes} of this message; {', '.join(said)} here"

"""From a text to an answer: the failure, the entries that explain it with the reason why, or the domain's first action."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from kbtool.matching import confidence, priors
from kbtool.matching.index import Index
from kbtool.matching.report import Report, make_report
from kbtool.matching.rows import Record
from kbtool.matching.score import Base, Comparison, Query, compare, make_query
from kbtool.matching.stream import ByteStream, Reading, read_stream, read_text
from kbtool.model import Answer, Domain, Match, Reason, Status

QUERY_TOKENS = 48
"""Rarest tokens of a report that candidates are sought by."""
POSTINGS = 6000
"""Occurrences in entries that these tokens may have together: what bounds the search in a large base."""
CANDIDATES = 28
"""Entries that are compared feature by feature."""
MOST_MATCHES = 5
REASONS = 4
REASON_TEXT = 300


@dataclass(frozen=True)
class Scored:
    """A candidate with its comparison, its rating and its probability of being right."""

    record: Record
    comparison: Comparison
    rating: float
    probability: float


def answer(
    source: ByteStream | str,
    index: Index,
    *,
    all: bool = False,
    limit: int = MOST_MATCHES,
    tee: Callable[[bytes], object] | None = None,
    progress: Callable[[int], object] | None = None,
) -> Answer:
    """What kb knows about a text or a binary stream; `all` also asks retired entries."""
    reading = read_text(source) if isinstance(source, str) else read_stream(source, tee=tee, progress=progress)
    return answer_reading(reading, index, all=all, limit=limit)


def answer_text(text: str, index: Index, *, all: bool = False) -> Answer:
    """What kb knows about a text at hand."""
    return answer(text, index, all=all)


def answer_reading(reading: Reading, index: Index, *, all: bool = False, limit: int = MOST_MATCHES) -> Answer:
    """What kb knows about an input that was read."""
    report = make_report(reading)
    matches = tuple(_match(item, report) for item in priors.weighed(scored(report, index, all=all)) if item.probability >= confidence.CALIBRATION.floor)[:limit]
    return Answer(report.failure, matches, None if matches else _domain(report, index), reading.truncated)


def scored(report: Report, index: Index, *, all: bool = False) -> list[Scored]:
    """All candidates, best first, whether or not they reach the floor."""
    query = make_query(report)
    records = [record for record in index.candidates(_query_tokens(query, index), CANDIDATES) if all or record.status != Status.RETIRED.value]
    if not records:
        return []
    wanted = {token for record in records for item in (*record.profile.wordings, *record.profile.lookalikes) for line in item.lines for token in line.tokens}
    wanted.update(token for record in records for token in record.profile.context)
    base = Base(index.size, index.frequencies(wanted))
    compared = [(record, compare(query, record.profile, base, confidence.rate)) for record in records]
    rated = sorted(((confidence.rate(item.features), record, item) for record, item in compared), key=lambda one: (-one[0], one[1].id))
    return [_scored(rated, place) for place in range(len(rated))]


def _scored(rated: list[tuple[float, Record, Comparison]], place: int) -> Scored:
    rating, record, comparison = rated[place]
    other = rated[1][0] if place == 0 and len(rated) > 1 else rated[0][0] if place else 0.0
    return Scored(record, comparison, rating, confidence.probability(comparison.features, rating, rating - other))


def _query_tokens(query: Query, index: Index) -> list[str]:
    """The tokens that tell most in this base, as many as are cheap to look up."""
    frequency = index.frequencies(query.bag)
    base = Base(index.size, frequency)
    known = [token for token in query.bag if frequency[token]]
    known.sort(key=lambda token: -query.bag[token] * base.idf(token))
    chosen: list[str] = []
    postings = 0
    for token in known[: 2 * QUERY_TOKENS]:
        if len(chosen) < QUERY_TOKENS and postings + frequency[token] <= POSTINGS:
            chosen.append(token)
            postings += frequency[token]
    return chosen


def _match(item: Scored, report: Report) -> Match:
    record = item.record
    return Match(
        id=record.id,
        title=record.title,
        domain=record.domain,
        score=round(item.probability, 4),
        confidence=confidence.confidence(item.probability, draft=record.status == Status.DRAFT.value),
        root_cause=record.root_cause,
        verify=record.verify,
        confirms=record.confirms,
        fix=record.fix,
        path=str(record.path),
        why=_reasons(item.comparison, report),
        tally=record.tally,
        applies_to=record.applies_to,
    )


def _reasons(comparison: Comparison, report: Report) -> tuple[Reason, ...]:
    ranked = sorted(comparison.found.items(), key=lambda found: (-len(found[1]) * report.lines[found[0]].weight, found[0]))
    chosen = sorted(index for index, _ in ranked[:REASONS])
    return tuple(Reason(report.lines[index].number, report.lines[index].text[:REASON_TEXT], comparison.found[index]) for index in chosen)


def _domain(report: Report, index: Index) -> Domain | None:
    from kbtool.knowledge.keywords import locate_domain

    text = "\n".join(line.text for line in report.lines[-400:] if line.weight > 0.3)
    telling = report.failure.excerpt if report.failure else text
    domains = index.domains()
    return locate_domain(telling, domains) or locate_domain(text, domains)

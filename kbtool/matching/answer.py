"""From a text to an answer: the failure, the entries that explain it with the reason why, or the domain's first action."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import NamedTuple

from kbtool.knowledge.keywords import locate_domain
from kbtool.knowledge.redaction import redact
from kbtool.matching import confidence, priors
from kbtool.matching.candidates import Candidate, Telling, batches, candidates, records
from kbtool.matching.idf import TokenFrequencies
from kbtool.matching.index import Index
from kbtool.matching.query import Query, make_query
from kbtool.matching.report import Report, make_report
from kbtool.matching.rows import Record
from kbtool.matching.score import Comparison, comparisons
from kbtool.matching.stream import ByteStream, Reading, read_stream, read_text
from kbtool.model import Answer, Domain, Failure, Match, Reason, Status

QUERY_TOKENS = 48
"""Rarest tokens of a report that candidates are sought by."""
POSTINGS = 6000
"""Occurrences in entries that these tokens may have together: what bounds the search in a large base."""
HOPE = 1.5
"""What a comparison seldom adds to the rating that was estimated."""
MOST_MATCHES = 5
SURELY_SHOWN = 3
"""Where the first is answered at all, its nearest rivals are shown with it, however small their chance."""
REASONS = 4
REASON_TEXT = 300


class Scored(NamedTuple):
    """A candidate with its comparison, its rating and its probability of being right."""

    record: Record
    comparison: Comparison
    rating: float
    probability: float
    plausible: bool
    """False where the input gives no ground to answer it at all."""


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
    return answer_report(make_report(reading), index, all=all, limit=limit)


def answer_report(report: Report, index: Index, *, all: bool = False, limit: int = MOST_MATCHES) -> Answer:
    """What kb knows about a report."""
    found = ranked(report, index, all=all)[:limit]
    calibration = index.calibration
    if not any(item.plausible for item in found[:SURELY_SHOWN]) or found[0].probability < calibration.floor:
        return Answer(_redacted(report.failure), (), _domain(report, index), report.truncated)
    shown = [item for place, item in enumerate(found) if place < SURELY_SHOWN or item.probability >= calibration.floor]
    return Answer(_redacted(report.failure), tuple(_match(item, report, calibration) for item in shown), None, report.truncated)


def scored(report: Report, index: Index, *, all: bool = False) -> list[Scored]:
    """All candidates, best first, whether or not they may be answered."""
    query = make_query(report)
    rated = sorted(_compared(query, index, candidates(index, _sought(query, index), retired=all)), key=_order)
    calibration = index.calibration
    return [_scored(rated, place, query, calibration) for place in range(len(rated))]


def _compared(query: Query, index: Index, found: Sequence[Candidate]) -> list[tuple[float, Record, Comparison]]:
    """Ratings and comparisons of the likeliest candidates, until those that are left have no hope of being first."""
    rated: list[tuple[float, Record, Comparison]] = []
    for batch in batches(found):
        if rated and max(rating for rating, _, _ in rated) > batch[0].estimate + HOPE:
            break
        opened = records(index, batch)
        base = index.frequencies(_wanted(opened))
        rated += (_best_wording(query, record, base) for record in opened)
    return rated


def _best_wording(query: Query, record: Record, base: TokenFrequencies) -> tuple[float, Record, Comparison]:
    compared = ((confidence.rate(one.features), record, one) for one in comparisons(query, record.profile, base))
    return max(compared, key=lambda rated: rated[0])


def gathered(report: Report, index: Index, *, all: bool = False) -> tuple[Query, list[Record], TokenFrequencies]:
    """What a full comparison needs: the report made ready, the entries that may explain it, and what their words tell in this base."""
    query = make_query(report)
    opened = records(index, candidates(index, _sought(query, index), retired=all))
    return query, opened, index.frequencies(_wanted(opened))


def ranked(report: Report, index: Index, *, all: bool = False) -> list[Scored]:
    """All candidates with their outcomes taken into account, best first, and no probability above that of the one before.

    The rating orders, for it is right more often than the probabilities of near rivals; the scores shown must not contradict it.
    """
    lowest = 1.0
    falling = []
    for item in priors.weighed(scored(report, index, all=all)):
        lowest = min(lowest, item.probability)
        falling.append(item._replace(probability=lowest))
    return falling


def _order(one: tuple[float, Record, Comparison]) -> tuple[float, str]:
    return -one[0], one[1].id


def _wanted(records: Sequence[Record]) -> set[str]:
    wanted: set[str] = set()
    return wanted.union(*[tokens for record in records for tokens in record.profile.weighed_tokens()])


def _scored(rated: list[tuple[float, Record, Comparison]], place: int, query: Query, calibration: confidence.Calibration) -> Scored:
    rating, record, comparison = rated[place]
    other = rated[1][0] if place == 0 and len(rated) > 1 else rated[0][0] if place else rating - confidence.LEAD_CAP
    probability = calibration.probability(comparison.features, rating, rating - other)
    plausible = confidence.plausible(comparison.features, troubled=query.troubled, at_home=query.at_home, excepted=bool(query.types))
    return Scored(record, comparison, rating, probability, plausible)


def _sought(query: Query, index: Index) -> list[Telling]:
    """The tokens that tell most in this base, as many as are cheap to look up."""
    base = index.frequencies(query.bag)
    frequency = base.frequency
    primary = frozenset(query.primary)
    reworded = Counter(token for tokens in query.paraphrases for token in tokens)
    share = 1.0 / (len(query.paraphrases) or 1)
    told = {token: weight * base.idf(token) for token, weight in query.bag.items() if frequency[token]}
    sought: list[Telling] = []
    postings = 0
    for token in sorted(told, key=told.__getitem__, reverse=True)[: 2 * QUERY_TOKENS]:
        if not sought or (len(sought) < QUERY_TOKENS and postings + frequency[token] <= POSTINGS):
            sought.append(Telling(token, query.bag[token], base.idf(token), token in primary, share * reworded[token]))
            postings += frequency[token]
    return sought


def _match(item: Scored, report: Report, calibration: confidence.Calibration) -> Match:
    record = item.record
    return Match(
        id=record.id,
        title=record.title,
        domain=record.domain,
        score=round(item.probability, 4),
        confidence=calibration.label(item.probability, draft=record.status == Status.DRAFT.value),
        root_cause=record.root_cause,
        verify=record.verify,
        confirms=record.confirms,
        fix=record.fix,
        path=record.path,
        why=_reasons(item.comparison, report),
        tally=record.tally,
        applies_to=record.applies_to,
    )


def _reasons(comparison: Comparison, report: Report) -> tuple[Reason, ...]:
    found, paraphrases = comparison.found, comparison.paraphrases
    ranked = sorted(found, key=lambda at: (-len(found[at]) * report.lines[at].weight, at))
    chosen = [(at, report.lines[at]) for at in sorted(ranked[:REASONS])]
    return tuple(Reason(line.number, _clean(line.text[:REASON_TEXT]), found[at], paraphrases.get(at)) for at, line in chosen)


def _redacted(failure: Failure | None) -> Failure | None:
    """The failure without secrets: answers are stored, sent on and read by agents."""
    return failure and failure._replace(message=_clean(failure.message), excerpt=_clean(failure.excerpt))


@lru_cache(64)
def _clean(text: str) -> str:
    """The text without secrets; rivals are often matched by the same lines."""
    return redact(text).text


def _domain(report: Report, index: Index) -> Domain | None:
    text = "\n".join(line.text for line in report.lines[-400:] if line.weight > 0.3)
    telling = report.failure.excerpt if report.failure else text
    domains = index.domains()
    return locate_domain(telling, domains) or locate_domain(text, domains)

"""The monthly review: everything that is due, in the order of value, without what was decided a while ago."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from dataclasses import dataclass, replace

from kbtool.journal import history
from kbtool.journal.history import Missed
from kbtool.journal.journal import Journal
from kbtool.knowledge.keywords import locate_domain
from kbtool.matching.answer import answer_text
from kbtool.matching.index import Index
from kbtool.model import Domain
from kbtool.review.findings import MOST_OF_A_KIND, RECURRING, Finding, Today, broken_files, entry_findings, in_order, near_duplicates
from kbtool.review.survey import Survey, survey

MISSED_DAYS = 90
"""Misses older than this are no news."""

MISSED_SHOWN = 25
"""Groups of misses that are looked at again: each is matched anew, since an entry may know it by now."""

POSTPONED_DAYS = {"later": 25, "keep": 180}
"""How long a finding rests after a decision: until the next monthly review, or for half a year."""


@dataclass(frozen=True)
class Review:
    """A review: what is due, what rests, and the base it looked at."""

    findings: tuple[Finding, ...]
    resting: int
    seen: Survey
    day: datetime.date


def hold_review(index: Index, journal: Journal, day: datetime.date, *, torch: str | None = None) -> Review:
    """Look over the base and the journal. Writes nothing."""
    seen = survey(index, journal)
    found = [
        *_missing(index, journal, day),
        *broken_files(seen.problems),
        *entry_findings(seen.standings, Today(day, torch)),
        *near_duplicates(seen.standings),
    ]
    resting = history.postponed(journal, day.isoformat())
    due = [finding for finding in in_order(found) if finding.key not in resting]
    return Review(tuple(_with_rival(finding, journal) for finding in due), len(found) - len(due), seen, day)


def _missing(index: Index, journal: Journal, day: datetime.date) -> list[Finding]:
    since = (day - datetime.timedelta(days=MISSED_DAYS)).isoformat()
    groups = history.missed(journal, since, least=RECURRING, limit=MISSED_SHOWN)
    domains = index.domains() if groups else []
    return [_missed(group, domains) for group in groups if not answer_text(group.excerpt or group.message, index).matches]


def _missed(group: Missed, domains: Sequence[Domain]) -> Finding:
    text = group.excerpt or group.message
    domain = locate_domain(text, domains)
    place = f", looks like {domain.name}" if domain else ""
    return Finding("missing", group.shape, group.shape, f"{group.count}×, last {group.last[:10]}{place}", ("add",), excerpt=text, count=group.count)


def _with_rival(finding: Finding, journal: Journal) -> Finding:
    if finding.kind != "misleading":
        return finding
    rivals = history.rivals(journal, finding.id)
    if not rivals:
        return finding
    name, count = rivals[0]
    return replace(finding, reason=f"{finding.reason}; `{name}` was right instead ({count}×)")


def decide(journal: Journal, finding: Finding, decision: str, day: datetime.date) -> None:
    """Let a finding rest after `later` or `keep`."""
    until = day + datetime.timedelta(days=POSTPONED_DAYS[decision])
    history.postpone(journal, finding.key, decision, until=until.isoformat())


def shown(findings: Sequence[Finding], kind: str) -> tuple[list[Finding], int]:
    """The findings of one kind that are shown, and how many more there are."""
    of_kind = [finding for finding in findings if finding.kind == kind]
    return of_kind[:MOST_OF_A_KIND], max(0, len(of_kind) - MOST_OF_A_KIND)


def add_command(finding: Finding) -> str:
    """The command that writes up what was missing, ready to be completed."""
    import shlex

    return f"kb add --symptom {shlex.quote(finding.excerpt)}"

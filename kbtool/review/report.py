"""The review as a page: Markdown with small charts in text, for a team's monthly note."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from kbtool.quantities import plural
from kbtool.review.drawing import sparkline
from kbtool.review.findings import KINDS
from kbtool.review.review import Review, add_command, shown
from kbtool.review.survey import months_up_to

WIDTH = 24
"""Characters of the longest bar."""

MONTHS = 12


def as_markdown(review: Review) -> str:
    """The whole report."""
    return "\n".join([*_head(review), *_findings(review), *_chart(review)]).rstrip() + "\n"


def _head(review: Review) -> Iterator[str]:
    standings = review.seen.standings
    status = Counter(standing.card.status for standing in standings)
    yield f"# Review of {review.day.isoformat()}"
    yield ""
    told = ", ".join(f"{count} {name}" for name, count in sorted(status.items()))
    yield f"{plural(len(standings), 'entry', 'entries')} ({told or 'none'}); {due(review)}."
    yield ""


def due(review: Review) -> str:
    """How many findings are due and how many rest, as a person says it."""
    count = len(review.findings)
    rest = f", {review.resting} {'rests' if review.resting == 1 else 'rest'}" if review.resting else ""
    return f"{plural(count, 'finding')} {'is' if count == 1 else 'are'} due{rest}"


def _findings(review: Review) -> Iterator[str]:
    for kind in KINDS:
        found, more = shown(review.findings, kind.name)
        if not found:
            continue
        yield f"## {kind.heading} ({len(found) + more})"
        yield ""
        yield f"{kind.meaning[0].upper()}{kind.meaning[1:]}."
        yield ""
        for finding in found:
            yield f"- **{_inline(finding.id)}**: {_inline(finding.reason)} → {' or '.join(finding.actions)}"
            if finding.kind == "missing":
                yield from ("", "  ```sh", *(f"  {line}" for line in add_command(finding).split("\n")), "  ```", "")
        if more:
            yield f"- and {more} more"
        yield ""


def _inline(text: str) -> str:
    """Text that Markdown shows as it is."""
    return " ".join("".join(f"\\{char}" if char in "*_<>[]#|" else char for char in text).split())


def _chart(review: Review) -> Iterator[str]:
    months = months_up_to(review.day, MONTHS)
    totals: Counter[str] = Counter()
    series = [0] * MONTHS
    for standing in review.seen.standings:
        counts = standing.by_month(months[0])
        totals[standing.card.domain] += sum(counts.values())
        series = [total + counts.get(month, 0) for total, month in zip(series, months, strict=True)]
    busy = [(domain, count) for domain, count in totals.most_common() if count]
    if not busy:
        return
    yield "## Incidents of the last twelve months"
    yield ""
    yield "```text"
    width = max(len(domain) for domain, _ in busy)
    top = busy[0][1]
    for domain, count in busy:
        yield f"{domain.ljust(width)}  {'█' * max(1, count * WIDTH // top)} {count}"
    yield ""
    yield f"{months[0]} {sparkline(series)} {months[-1]}"
    yield "```"



"""What the journal tells about entries and misses over time: the questions that review, tree and stats ask.

Each question reads an index or the table of months, so that it stays quick with a million rows.
"""

from __future__ import annotations

import statistics
from collections import defaultdict
from dataclasses import dataclass
from typing import NamedTuple

from kbtool.journal.journal import Journal
from kbtool.journal.records import Keeping, Place

NEWEST_VERDICTS = 20_000
"""Verdicts that questions about single rows look at."""


class Month(NamedTuple):
    """What became of an entry in one month: texts it was the first answer to, and verdicts."""

    first: int = 0
    confirmed: int = 0
    refuted: int = 0
    inconclusive: int = 0


@dataclass(frozen=True)
class Missed:
    """Failures of one shape that nothing explained: how often, when last, and the newest of them."""

    shape: str
    count: int
    last: str
    type: str
    message: str
    excerpt: str
    domain: str | None


@dataclass(frozen=True)
class Speed:
    """A month's verdicts on matches: how many, the median seconds from match to verdict, and how often the first answer was the right one."""

    month: str
    verdicts: int
    seconds: float
    first_right: int
    decided: int
    """Matches of which some entry was confirmed; of them, `first_right` had it in the first place."""


def by_month(journal: Journal, since: str = "") -> dict[str, dict[str, Month]]:
    """Entry and month (from `since`, ``2026-01``) to what became of it."""
    found: dict[str, dict[str, Month]] = defaultdict(dict)
    rows = journal.connection.execute("select entry, month, first, confirmed, refuted, inconclusive from months where month >= ?", (since,))
    for entry, month, first, confirmed, refuted, inconclusive in rows:
        found[entry][month] = Month(first, confirmed, refuted, inconclusive)
    return dict(found)


def missed(journal: Journal, since: str, *, least: int, limit: int) -> list[Missed]:
    """Shapes of misses since a day that came at least `least` times, most frequent first."""
    groups = journal.connection.execute(
        "select shape, count(*) as n, max(at) from matches where answered = 0 and shape is not null group by shape having n >= ? and max(at) >= ?"
        " order by n desc, max(at) desc limit ?",
        (least, since, limit),
    ).fetchall()
    return [_newest(journal, shape, count, last) for shape, count, last in groups]


def _newest(journal: Journal, shape: str, count: int, last: str) -> Missed:
    row = journal.connection.execute(
        "select type, message, excerpt, domain from matches where answered = 0 and shape = ? and at = ? order by id desc limit 1", (shape, last)
    ).fetchone()
    return Missed(shape, count, last, *row)


def misses_by_month(journal: Journal) -> dict[str, int]:
    """Month to how many texts found no answer."""
    return dict(journal.connection.execute("select substr(at, 1, 7), count(*) from matches where answered = 0 and shape is not null group by 1"))


def never_ran(journal: Journal, reason: str) -> dict[str, int]:
    """Entry to how many of the newest verdicts are of a check that did not run, for a reason that begins so."""
    return dict(
        journal.connection.execute(
            "select entry, count(*) from (select entry, reason, recorded from verdicts order by id desc limit ?)"
            " where recorded = ? and substr(reason, 1, ?) = ? group by 1",
            (NEWEST_VERDICTS, int(Keeping.NOTHING), len(reason), reason),
        )
    )


def confirmed_place(journal: Journal, entry: str) -> Place | None:
    """The environment in which an entry was last confirmed by this machine's user."""
    row = journal.connection.execute("select entry, at, environment, facts from places where entry = ?", (entry,)).fetchone()
    return Place(*row) if row else None


def rivals(journal: Journal, entry: str) -> list[tuple[str, int]]:
    """Entries that were confirmed for a match in which `entry` was refuted, with how often; most first."""
    return journal.connection.execute(
        "select other.entry, count(*) as n from verdicts mine join verdicts other on other.match_id = mine.match_id and other.verdict = 'confirmed'"
        " where mine.entry = ? and mine.verdict = 'refuted' and mine.match_id is not null and other.entry <> mine.entry"
        " group by 1 order by n desc, 1 limit 3",
        (entry,),
    ).fetchall()


def speeds(journal: Journal) -> list[Speed]:
    """By month, oldest first, from the newest verdicts that decided a match."""
    rows = journal.connection.execute(
        "select v.match_id, v.entry, v.verdict, m.first, substr(v.at, 1, 7), (julianday(v.at) - julianday(m.at)) * 86400"
        " from (select * from verdicts where match_id is not null order by id desc limit ?) v join matches m on m.id = v.match_id",
        (NEWEST_VERDICTS,),
    ).fetchall()
    seconds: dict[str, list[float]] = defaultdict(list)
    right: dict[str, dict[int, bool]] = defaultdict(dict)
    for match_id, entry, verdict, first, month, took in rows:
        seconds[month].append(max(0.0, took or 0.0))
        if verdict == "confirmed":
            right[month][match_id] = right[month].get(match_id, False) or entry == first
    return [Speed(month, len(taken), statistics.median(taken), sum(right[month].values()), len(right[month])) for month, taken in sorted(seconds.items())]


def postpone(journal: Journal, item: str, decision: str, *, until: str) -> None:
    """Remember what was decided about a finding, so that it is not brought up again before the day `until`."""
    from kbtool.journal.journal import now

    with journal.writing() as cursor:
        cursor.execute("insert or replace into decisions values (?, ?, ?, ?)", (item, decision, now(), until))


def postponed(journal: Journal, today: str) -> dict[str, str]:
    """Findings that are decided for now, and how."""
    return dict(journal.connection.execute("select item, decision from decisions where until > ?", (today,)))


def rename_entry(journal: Journal, old: str, new: str) -> None:
    """Let the history of an entry follow it to its new id."""
    with journal.writing() as cursor:
        for table, column in (("matches", "first"), ("candidates", "entry"), ("verdicts", "entry"), ("places", "entry")):
            cursor.execute(f"update or ignore {table} set {column} = ? where {column} = ?", (new, old))
        cursor.execute(
            "insert into months select ?, month, first, confirmed, refuted, inconclusive from months where entry = ? and true"
            " on conflict (entry, month) do update set first = first + excluded.first, confirmed = confirmed + excluded.confirmed,"
            " refuted = refuted + excluded.refuted, inconclusive = inconclusive + excluded.inconclusive",
            (new, old),
        )
        cursor.execute("delete from months where entry = ?", (old,))


def verdicts_after(journal: Journal, base: str, row: int) -> list[tuple[int, str, str, str]]:
    """Row, entry, verdict and reason of the checks that ran on a base after `row`, oldest first."""
    return journal.connection.execute("select id, entry, verdict, reason from verdicts where base = ? and id > ? order by id", (base, row)).fetchall()


def newest_verdict(journal: Journal) -> int:
    """The number of the newest verdict; 0 where there is none."""
    return int(journal.connection.execute("select coalesce(max(id), 0) from verdicts").fetchone()[0])

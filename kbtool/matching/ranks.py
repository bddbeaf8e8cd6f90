"""Several logs of one job: which rank failed first, and whose trouble is only its fallout."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from kbtool.matching import signs
from kbtool.matching.report import Report
from kbtool.matching.signs import Kind
from kbtool.matching.stream import Reading
from kbtool.model import Failure
from kbtool.patterns import any_of

FIRST, FAILED, FALLOUT, HEALTHY = "first", "failed", "fallout", "healthy"

PEERS: tuple[tuple[str, str], ...] = (
    ("gloo, TCP store", r"[Cc]onnection (?:closed|reset|refused) by (?:remote )?peer|Broken pipe|Socket Timeout"),
    ("gloo", r"Timed out waiting \d+ ?ms for (?:recv|send) operation"),
    ("NCCL", r"ncclRemoteError|ncclInternalError|remote process exited|NCCL communicator was aborted|Watchdog caught collective operation timeout"),
    ("torch distributed", r"DistNetworkError|DistStoreError|store->get\(|wait timeout after \d+ms|monitoredBarrier|recvValue failed"),
    ("launchers", r"SIGTERM|got signal: 15|exitcode\s*: -15"),
)
"""(source, shape) of what a rank says when a peer has gone: its own failure is only fallout."""

_PEER = any_of(*(shape for _, shape in PEERS))
_RANK_NAME = re.compile(r"(?:rank|node|worker|local_?rank|proc)[-_. ]?(\d+)", re.IGNORECASE)
_TIMES = (
    re.compile(r"\d{4}-\d\d-\d\d[ T_]\d\d:\d\d:\d\d(?:[.,]\d+)?"),
    re.compile(r"(?<![\w])[IWEF]\d{3,4} \d\d:\d\d:\d\d\.\d+"),
)
_TIME_WINDOW = 40


@dataclass(frozen=True)
class RankLog:
    """One log of the job: `role` is first, failed, fallout or healthy; `time` the stamp nearest above its failure, as printed."""

    name: str
    rank: int | None
    role: str
    failure: Failure | None
    time: str | None


def sort_ranks(logs: Sequence[tuple[str, Reading, Report]]) -> list[RankLog]:
    """The logs in the order given, with the one that failed first marked.

    Failures of a rank's own come before fallout; among them the earliest time stamp decides, and without stamps the order given.
    """
    found = [RankLog(name, _rank(name, report), _role(report), report.failure, _time(reading, report)) for name, reading, report in logs]
    own = [at for at, log in enumerate(found) if log.role == FAILED] or [at for at, log in enumerate(found) if log.role == FALLOUT]
    if not own:
        return found
    stamped = all(found[at].time for at in own) and len({len(found[at].time or "") > 16 for at in own}) == 1
    first = min(own, key=lambda at: (found[at].time or "", at)) if stamped else own[0]
    return [RankLog(log.name, log.rank, FIRST if at == first else log.role, log.failure, log.time) for at, log in enumerate(found)]


def _rank(name: str, report: Report) -> int | None:
    named = _RANK_NAME.search(name.replace("\\", "/").rsplit("/", 1)[-1]) or _RANK_NAME.search(name)
    if named:
        return int(named[1])
    return report.failure.rank if report.failure else None


def _role(report: Report) -> str:
    if report.failure is None or not report.primary:
        return HEALTHY
    head = report.lines[report.primary[0]]
    if head.kind is Kind.WARNING:
        return HEALTHY
    text = " ".join(report.lines[at].text for at in report.primary)
    if head.kind is Kind.FALLOUT and not signs.DEADLY_EXIT.search(text):
        return FALLOUT
    return FALLOUT if _PEER.search(text) else FAILED


def _time(reading: Reading, report: Report) -> str | None:
    if report.failure is None:
        return None
    above = [line for line in reading.lines if line.number <= report.failure.line][-_TIME_WINDOW:]
    for line in reversed(above):
        for shape in _TIMES:
            if stamp := shape.search(line.text):
                return stamp.group().replace("T", " ").replace(",", ".")
    return None

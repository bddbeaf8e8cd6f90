"""What launchers, containers and loggers put in front of a line, and how it comes off: a table of shapes, each with its source."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from kbtool.patterns import Pattern


class Prefix(NamedTuple):
    """One shape of prefix. A group named `rank` gives the rank of the process that printed the line."""

    name: str
    source: str
    starts: str
    """The characters that such a prefix can begin with; empty: any."""
    pattern: Pattern
    common: bool = False
    """Too ordinary to believe in one line: counts only when many lines of the input carry it."""


def _prefix(name: str, source: str, starts: str, pattern: str, *literals: str, common: bool = False) -> Prefix:
    return Prefix(name, source, starts, Pattern(pattern, *literals), common)


BOX = "│┃|"
"""The sides of a box around text."""
_DIGITS = "0123456789"
_CAPITALS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_TIME = r"\d{4}-\d\d-\d\d[ T_]\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?"

PREFIXES: tuple[Prefix, ...] = (
    _prefix("torch rank", "torch.distributed logging, torchrun --tee", "[", r"\[(?:rank|RANK)\s?(?P<rank>\d+)\]:? ?"),
    _prefix("torchrun role", "torchrun --log-dir tee", "[", r"\[[a-z_]{1,20}(?P<rank>\d+)\]:"),
    _prefix("mpirun tag", "mpirun --tag-output", "[", r"\[\d+,(?P<rank>\d+)\]<std(?:out|err)>: ?"),
    _prefix("ray", "ray worker output", "(", r"\((?:[A-Za-z_][\w.:()]{0,80} )?pid=\d+(?:, ip=[\d.]+)?\) ?"),
    _prefix("vllm process", "vllm worker and engine processes", "(", r"\([A-Za-z]\w{0,40} (?:rank=)?(?:pid=)?\d+\) ?"),
    _prefix("kubernetes", "CRI log format", _DIGITS, _TIME + r" std(?:out|err) [FP] ?"),
    _prefix("loguru", "loguru default format", _DIGITS, _TIME + r" \| [A-Z]+ +\| (?:[\w.<>]+:[\w.<>]+:\d+ - |std(?:err|out) \| )?"),
    _prefix("docker json", "docker compose logs -t", "", r"[\w.-]{1,60} +\| " + _TIME + " ", " | "),
    _prefix("absl", "absl and glog: level, date, time, thread, file:line", "IWEFD", r"[IWEFD]\d{4} \d\d:\d\d:\d\d\.\d+ +\d+ (?=\S)"),
    _prefix("iso time", "many loggers", "[" + _DIGITS, r"\[?" + _TIME + r"\]?(?: - |:? \|? ?|$)"),
    _prefix("slash time", "nginx, java, older loggers", "[" + _DIGITS, r"\[?\d{2,4}/\d\d/\d\d[ -]\d\d:\d\d:\d\d(?:[.,]\d+)?\]?:? (?:- )?"),
    _prefix("clock", "short loggers", "[" + _DIGITS, r"\[?\d\d:\d\d:\d\d(?:[.,]\d+)?\]?:? (?:- )?"),
    _prefix("syslog", "journald, rsyslog", _CAPITALS, r"(?:[A-Z][a-z]{2} )?[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d [\w.-]+ [\w./@-]+(?:\[\d+\])?: "),
    _prefix("kernel", "dmesg", "[", r"\[ *\d+\.\d{6}\] "),
    _prefix("buildkit", "docker build --progress=plain", "#", r"#\d+ \d+\.\d+ "),
    _prefix("pytest", "pytest's failure section", "E", r"E {3,}"),
    _prefix("box", "rich traceback box", BOX, r"[│┃|] (?=.*[│┃|]\s*$)"),
    _prefix("slurm", "srun --label", " " + _DIGITS, r" *(?P<rank>\d{1,5}): ", common=True),
    _prefix("compose", "docker compose logs", _CAPITALS + _CAPITALS.lower(), r"[A-Za-z][\w.-]{0,60} +\| ?", " |", common=True),
    _prefix("tagged", "a program's own tag", "[", r"\[[A-Za-z][\w ./-]{0,40}\] ", common=True),
    _prefix("quoted", "mail and issue quotes, notes", ">#", r"[>#] ", common=True),
)
"""Tried in this order, again and again, since prefixes nest."""

COMMON_LINES, COMMON_SHARE = 3, 0.5
"""Lines, and share of the lines, that must carry a `common` prefix before it is believed."""
MOST_LAYERS = 4


class Believed(dict[str, tuple[Prefix, ...]]):
    """First character of a line → the prefixes that it may begin, of those that count: most lines begin like next to none."""

    def __init__(self, prefixes: Iterable[Prefix]):
        self._prefixes = tuple(prefixes)

    def __missing__(self, first: str) -> tuple[Prefix, ...]:
        self[first] = found = tuple(prefix for prefix in self._prefixes if not prefix.starts or first in prefix.starts)
        return found


_PLAIN = Believed(prefix for prefix in PREFIXES if not prefix.common)
_COMMON = Believed(prefix for prefix in PREFIXES if prefix.common)


def believed(lines: Iterable[str]) -> Believed:
    """The prefixes that count for these lines: all unmistakable ones, and common ones that many of the lines carry."""
    written = [line for line in lines if line.strip()]
    if len(written) < COMMON_LINES:
        return _PLAIN
    counts: Counter[str] = Counter()
    for line in written:
        rest = strip(line, _PLAIN)[0]
        for prefix in _COMMON[rest[0]] if rest else ():
            if prefix.pattern.match(rest):
                counts[prefix.name] += 1
    often = {name for name, count in counts.items() if count >= COMMON_LINES and count >= COMMON_SHARE * len(written)}
    return Believed(prefix for prefix in PREFIXES if not prefix.common or prefix.name in often) if often else _PLAIN


def _first(line: str, prefixes: Believed) -> re.Match[str] | None:
    for prefix in prefixes[line[0]]:
        found = prefix.pattern.match(line)
        if found is not None:
            return found
    return None


def strip(line: str, prefixes: Believed = _PLAIN) -> tuple[str, int | None]:
    """The line without its prefixes, and the rank they name."""
    rank: int | None = None
    for _ in range(MOST_LAYERS):
        found = _first(line, prefixes) if line else None
        if found is None:
            break
        boxed = line[found.start()] in BOX
        if rank is None and "rank" in found.re.groupindex:
            rank = int(found["rank"])
        line = line[found.end() :]
        line = line.rstrip(BOX + " ") if boxed else line
    return line, rank

"""What lint says of a base: every problem of every file, and the advice that reading alone does not need."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator
from pathlib import Path

from kbtool.knowledge import headings
from kbtool.knowledge.domains import domain_problems
from kbtool.knowledge.entry import Reading, examine
from kbtool.knowledge.layers import DOMAIN_PAGE, Base, domain_folders, entry_files
from kbtool.knowledge.problems import ERROR, WARNING, Problem

EVERYWHERE = frozenset(
    "alias awk basename bg cat cd chmod command cp cut date dd df dirname du echo env eval exec exit export expr false fg find getconf grep "
    "head hash id jobs kill ln ls mkdir mktemp mv od paste printf ps pwd python python3 read readlink return rm sed set sh shift sleep "
    "sort stat tail tee test time timeout times touch tr trap true type ulimit umask unalias uname uniq unset wait wc which xargs [ : .".split()
)
"""Commands that a POSIX system with Python has; every other one belongs into `needs: command:NAME`."""

_FIXES = re.compile(
    r"^\s*(?:sudo\s+)?(?:ulimit\s+-\w+\s+(?:\d|unlimited|hard|soft|\$)|(?:pip3?|conda|mamba|apt|apt-get|yum|dnf|brew|npm|uv)\s+(?:pip\s+)?(?:install|remove|uninstall|upgrade|update)\b"
    r"|kill(?:all)?\b(?!\s+-(?:0|l)\b)|pkill\b|rm\b|mv\b|reboot\b|shutdown\b|export\b|unset\b|chmod\b|chown\b|modprobe\b|systemctl\s+(?:re)?start\b|docker\s+(?:run|rm|restart)\b)"
)
"""Commands that change something: a fix, not a check."""

_SENTENCE = re.compile(r"^(?:check|verify|make sure|ensure|see|look|confirm|inspect|run|try|compare|检查|确认|查看)\b\s+(?!-)\w+\s+\w+", re.IGNORECASE)


_BEFORE_A_COMMAND = frozenset(("if", "then", "else", "elif", "do", "while", "until", "!", "{", "}", "fi", "done"))
_BEFORE_A_NAME = frozenset(("for", "case", "esac"))
"""Words of the shell's own syntax."""


def lint_bases(bases: Iterable[Base]) -> Iterator[Problem]:
    """Problems of every page and entry of `bases`, and ids that stand twice in one base."""
    for base in bases:
        seen: dict[str, Path] = {}
        for domain in domain_folders(base.root):
            yield from _lint_page(base.root / domain / DOMAIN_PAGE)
        for file in entry_files(base):
            yield from lint_file(file.path)
            if file.id in seen:
                yield Problem(file.path, 1, ERROR, f"the id `{file.id}` stands twice in this base; the other is {seen[file.id]}")
            seen.setdefault(file.id, file.path)


def _lint_page(path: Path) -> list[Problem]:
    try:
        return domain_problems(path.read_bytes(), path=path)
    except FileNotFoundError:
        return [Problem(path, 1, WARNING, "the domain has no page")]
    except OSError as error:
        return [Problem(path, 1, ERROR, f"can not be read: {error.strerror}")]


def lint_file(path: Path) -> list[Problem]:
    """Every problem of one file, in the order of its lines."""
    try:
        data = path.read_bytes()
    except OSError as error:
        return [Problem(path, 1, ERROR, f"can not be read: {error.strerror}")]
    if path.name == DOMAIN_PAGE:
        return domain_problems(data, path=path)
    reading = examine(data, path=path, domain=path.parent.name)
    if reading.entry is not None:
        _advise(reading)
    return sorted(reading.problems)


def _advise(reading: Reading) -> None:
    entry, document = reading.entry, reading.document
    assert entry is not None and document is not None
    if entry.check is None:
        return
    section = document.section(headings.VERIFY)
    line = section.fences[0].start + 1 if section else 0
    if entry.check.confirms is None:
        reading.warning(line, "no `confirms`: a person has to judge the result of this check")
    if entry.check.language == "python":
        _advise_expression(entry.check.command, entry.check.confirms, line, reading)
        return
    if entry.check.confirms in ("true", "false"):
        reading.error(line, f"`confirms: {entry.check.confirms}` is for a `python` expression; this check is a command")
    if is_fix(entry.check.command):
        reading.warning(line, "the check changes something: that is a fix; a check only looks")
    if is_sentence(entry.check.command):
        reading.warning(line, "the check reads like a sentence; it must be a command that runs")
    declared = {need.removeprefix("command:") for need in entry.check.needs if need.startswith("command:")}
    for name in commands_of(entry.check.command):
        if name not in EVERYWHERE and name not in declared:
            reading.warning(line, f"not every system has `{name}`: add `command:{name}` to `needs`")


def _advise_expression(command: str, confirms: str | None, line: int, reading: Reading) -> None:
    import ast

    try:
        ast.parse(command, mode="eval")
    except (SyntaxError, ValueError, RecursionError):
        reading.error(line, "the `python` check is not one expression")
    if confirms not in (None, "true", "false"):
        reading.error(line, f"`confirms: {confirms}` is for a command; a `python` expression is `true` or `false`")


def is_fix(command: str) -> bool:
    """True for a command that changes the system instead of looking at it."""
    return _FIXES.match(command) is not None


def is_sentence(command: str) -> bool:
    """True for a description of what to do in place of a command."""
    words = command.split()
    return bool(_SENTENCE.match(command)) and not any(mark in command for mark in "|/$;=(") and len(words) > 2


def commands_of(command: str) -> list[str]:
    """The command words of a shell line: the first word of every part of a pipe or list, without assignments and paths."""
    lexer = shlex.shlex(command, posix=True, punctuation_chars="();<>|&")
    lexer.whitespace_split = True
    try:
        tokens = list(lexer)
    except ValueError:
        return []
    found: list[str] = []
    expecting = True
    skip = False
    for token in tokens:
        if skip:
            skip = False
        elif set(token) <= set("<>&") and set(token) & set("<>"):
            skip = True
        elif set(token) <= set("();|&") or token in _BEFORE_A_COMMAND:
            expecting = True
        elif token in _BEFORE_A_NAME:
            expecting = False
        elif expecting and not re.match(r"[A-Za-z_]\w*=", token):
            found.append(token)
            expecting = False
    return [name for name in dict.fromkeys(found) if "/" not in name and not name.startswith(("$", "-", '"'))]

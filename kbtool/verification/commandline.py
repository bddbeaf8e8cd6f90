"""What a check's shell line calls: the names of its commands, so that one that is not there is noticed in any part of a pipe.

A reader of shell grammar as far as command names go, no more. What it can not read it leaves out; it never guesses.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Mapping
from dataclasses import dataclass

BUILTINS = frozenset(
    ". : [ alias bg break cd command continue eval exec exit export fg getopts hash jobs kill pwd read readonly return set shift test "
    "times trap type ulimit umask unalias unset wait echo printf true false local source".split()
)
"""Commands of a POSIX shell itself, which PATH need not have."""

KEYWORDS = frozenset("! { } ( ) if then else elif fi do done while until".split())
"""Words after which the next word is a command again."""

NO_COMMAND_AFTER = frozenset("for case in esac".split())
"""Words that are followed by something other than a command."""

_TOKEN = re.compile(
    r"""(?P<space>\s+)
      | (?P<operator>&&|\|\||;;|\|&|[|;&\n()])
      | (?P<redirection>\d*(?:>>|>&|<&|<<-?|<>|>\||[<>])\s*(?:[^\s|;&()<>]+)?)
      | (?P<word>(?:'[^']*'|"(?:\\.|[^"\\])*"|\\.|\$\([^()]*\)|[^\s|;&()<>'"\\])+)
      | (?P<other>.)""",
    re.VERBOSE | re.DOTALL,
)
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")
_SUBSTITUTION = re.compile(r"\$\(([^()]*)\)|`([^`]*)`")
_FUNCTION = re.compile(r"([A-Za-z_]\w*)\s*\(\)")
_PLAIN_NAME = re.compile(r"[A-Za-z0-9_./+-]+|\[")


@dataclass(frozen=True)
class Call:
    """A command that a line calls; `guarded` when the line goes on with ``||``, so that its author expects it to fail."""

    name: str
    guarded: bool


def calls(line: str) -> list[Call]:
    """The commands that `line` calls by a plain name, in order; those in command substitutions too."""
    found = _calls_at_top(line)
    for match in _SUBSTITUTION.finditer(re.sub(r"'[^']*'", "", line)):
        found += calls(match.group(1) or match.group(2) or "")
    return found


def _calls_at_top(line: str) -> list[Call]:
    names: list[str | None] = []
    operators: list[str] = []
    expects_command = True
    for token in _TOKEN.finditer(line):
        kind, text = token.lastgroup, token.group()
        if kind == "operator":
            operators.append(text)
            names.append(None)
            expects_command = True
        elif kind == "word" and expects_command:
            expects_command = text in KEYWORDS or bool(_ASSIGNMENT.match(text))
            if not expects_command and text not in NO_COMMAND_AFTER and _PLAIN_NAME.fullmatch(text):
                names.append(text)
                operators.append("")
    return [Call(name, _is_guarded(operators[at:])) for at, name in enumerate(names) if name]


def _is_guarded(operators_after: list[str]) -> bool:
    """True when the pipe that a command stands in is followed by ``||``."""
    following = next((operator for operator in operators_after if operator not in ("", "|", "|&", ")")), "")
    return following == "||"


def missing_commands(line: str, environment: Mapping[str, str], folder: str | None = None) -> list[str]:
    """Names that `line` calls and that neither the shell nor PATH has; guarded ones are the author's matter."""
    defined = BUILTINS | KEYWORDS | set(_FUNCTION.findall(line))
    missing: list[str] = []
    for call in calls(line):
        if call.guarded or call.name in defined:
            continue
        if "/" in call.name:
            present = os.path.exists(os.path.join(folder or os.getcwd(), call.name))
        else:
            present = shutil.which(call.name, path=environment.get("PATH")) is not None
        if not present and call.name not in missing:
            missing.append(call.name)
    return missing


def last_command(line: str) -> str | None:
    """The command whose exit status the line's status is, as far as that can be read."""
    found = _calls_at_top(line)
    return found[-1].name if found else None

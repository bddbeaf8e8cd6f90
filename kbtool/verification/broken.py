"""Signs that a check broke instead of answering: tables, read by one function.

A missing command, a missing module or a crash of the check's own Python says nothing about the fault that the check looks for.
"""

from __future__ import annotations

import re
import signal
from collections.abc import Sequence
from dataclasses import dataclass

from kbtool.verification.commandline import last_command
from kbtool.verification.process import Finished

ABSENT = "command not found"
"""Begins the reason where a command does not exist."""

_SHELL = r"(?:\S*/)?(?:sh|dash|ash|bash|ksh|zsh|busybox)"

SHELL_SIGNS: tuple[tuple[str, str], ...] = (
    (rf"{_SHELL}: (?:line )?(?:\d+: )?(?P<what>[^:]+): (?:command )?not found", f"{ABSENT}: {{what}}"),
    (rf"{_SHELL}: (?:\d+: )?command not found: (?P<what>.+)", f"{ABSENT}: {{what}}"),
    (rf"{_SHELL}: .*(?:[Ss]yntax error|unexpected EOF|[Uu]nterminated)(?P<what>.*)", "syntax error in the shell line"),
    (rf"{_SHELL}: .*(?:Cannot fork|fork: )(?P<what>.*)", "no process could be started{what}"),
    (rf"{_SHELL}: (?:line )?(?:\d+: )?(?P<what>[^:]+): Permission denied", "can not be executed here: {what}"),
    (rf"{_SHELL}: (?:line )?(?:\d+: )?(?P<what>\[|test): .*(?:expected|Illegal|unexpected|missing).*", "`{what}` was given something it can not compare"),
    (r"(?:env|timeout|nice|nohup|xargs|stdbuf|setsid|time|sudo): .*?[‘'\"]?(?P<what>[\w./+-]+)[’'\"]?: No such file or directory", f"{ABSENT}: {{what}}"),
    (r"sudo: (?P<what>[\w./+-]+): command not found", f"{ABSENT}: {{what}}"),
    (r".*exec: \\?\"(?P<what>[^\"\\]+)\\?\": executable file not found.*", f"{ABSENT}: {{what}}"),
)
"""Whole lines of standard error, in the words of the common shells and of commands that start others, and what each means."""

UNSET_SIGNS: tuple[str, ...] = (
    rf"^{_SHELL}: (?:line )?(?:\d+: )?(?P<what>[A-Za-z_]\w*): parameter (?:null or )?not set(?: or null)?$",
    r"^  File \"(?:<frozen os>|[^\"\n]*[/\\]os\.py)\", line \d+, in __getitem__\n(?:    .*\n)*KeyError: '(?P<what>\w+)'$",
)
"""How the shell and Python say that a variable which the check asks for (``${PORT:?}``, ``os.environ['PORT']``) is not set."""

PYTHON_OWN_FAULTS: dict[str, str] = {
    "ModuleNotFoundError": "module missing",
    "ImportError": "module can not be imported",
    "SyntaxError": "syntax error in the check's Python",
    "IndentationError": "syntax error in the check's Python",
    "TabError": "syntax error in the check's Python",
    "NameError": "the check's Python names something that does not exist",
    "MemoryError": "the check's Python ran out of memory",
    "KeyboardInterrupt": "the check was interrupted",
}
"""Exceptions that are about the check itself. Others (ConnectionRefusedError, AssertionError) may well be its answer by exit status."""

TROUBLE_STATUS: dict[str, tuple[int, str]] = {
    "grep": (2, "grep could not read its input"),
    "egrep": (2, "grep could not read its input"),
    "fgrep": (2, "grep could not read its input"),
    "cmp": (2, "cmp could not read its input"),
    "diff": (2, "diff could not read its input"),
    "test": (2, "`test` was given something it can not compare"),
    "[": (2, "`[` was given something it can not compare"),
}
"""Commands whose status says "no" with 1 and "I could not tell" with this one."""

VIA_SIGNS: tuple[tuple[str, int | None, str], ...] = (
    ("ssh", 255, r".*"),
    ("docker", 125, r".*"),
    ("docker", None, r"(?:Error response from daemon|Error: No such container|Cannot connect to the Docker daemon).*"),
    ("podman", 125, r".*"),
    ("podman", None, r"Error: .*(?:no such container|container state improper).*"),
    ("kubectl", None, r"(?:Error from server|error: unable to|error: Internal error).*"),
    ("srun", None, r"srun: error: .*"),
)
"""First word of a prefix, the exit status (None: any but 0) and the line of standard error that mean that the place was not reached."""

_LAST_EXCEPTION = re.compile(r"^(?P<kind>(?:[A-Za-z_]\w*\.)*[A-Z]\w*)(?:: (?P<what>.*))?$", re.MULTILINE)
_TRACEBACK = re.compile(r"^Traceback \(most recent call last\):$", re.MULTILINE)
_SYNTAX = re.compile(r"^  File \"<(?:string|stdin)>\", line \d+$", re.MULTILINE)
_PYTHON = re.compile(r"(?:\S*/)?python[\d.]*")


@dataclass(frozen=True)
class Breakage:
    """Why a check broke. `ran` is False where its place was not reached or a variable it asks for is not set."""

    reason: str
    ran: bool = True


def breakage(command: str, finished: Finished, missing: Sequence[str], *, reads_output: bool, via: str = "") -> Breakage | None:
    """Why the check broke, or None when its result can be read.

    `missing` are commands known not to exist here; `reads_output` is True when the answer is read from what the check printed, so
    that any uncaught exception means that it did not get that far.
    """
    ending = _ending(finished)
    not_begun = None if ending else (_unreached(via, finished) if via else None) or _unset(finished.stderr)
    reason = (
        ending
        or not_begun
        or (f"{ABSENT}: {', '.join(missing)}" if missing else None)
        or _shell_sign(finished.stderr)
        or _exception(command, finished, reads_output)
        or _status(command, finished)
    )
    return Breakage(reason, ran=not not_begun) if reason else None


def _ending(finished: Finished) -> str | None:
    endings = {
        "timeout": f"no answer within {finished.seconds:.0f} s",
        "output": "printed without end and was stopped",
        "lost": "the process that watched the check was killed",
        "killed": f"killed by {signal_name(finished.signal or 0)}",
    }
    return endings.get(finished.ended)


def signal_name(number: int) -> str:
    """``SIGKILL`` for 9; the number where it has no name here."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _unreached(via: str, finished: Finished) -> str | None:
    program = via.split()[0] if via.split() else ""
    if program and _shell_sign(finished.stderr) == f"{ABSENT}: {program}":
        return f"`{via}` did not reach its place: {ABSENT}: {program}"
    first = program.rpartition("/")[2]
    for prefix, status, line in VIA_SIGNS:
        if prefix != first or finished.exit_code in (0, None) or status not in (None, finished.exit_code):
            continue
        found = re.search(rf"^{line}$", finished.stderr, re.MULTILINE)
        if found:
            return f"`{via}` did not reach its place: {found.group().strip()}"
    return None


def _unset(stderr: str) -> str | None:
    for pattern in UNSET_SIGNS:
        found = re.search(pattern, stderr, re.MULTILINE)
        if found:
            return "`{what}` is not set, and the check asks for it: `{what}=… kb verify …`".format(what=found.group("what"))
    return None


def _shell_sign(stderr: str) -> str | None:
    for line in stderr.splitlines():
        for pattern, reason in SHELL_SIGNS:
            found = re.fullmatch(pattern, line.strip()[:500])
            if found:
                return reason.format(what=found.group("what").strip())
    return None


def _exception(command: str, finished: Finished, reads_output: bool) -> str | None:
    if not (_TRACEBACK.search(finished.stderr) or _SYNTAX.search(finished.stderr)):
        return None
    found = list(_LAST_EXCEPTION.finditer(finished.stderr))
    if not found:
        return None
    kind, what = found[-1].group("kind"), found[-1].group("what") or ""
    own = PYTHON_OWN_FAULTS.get(kind)
    if own:
        return f"{own}: {what}" if what else own
    is_answer = finished.exit_code != 0 and not reads_output and _PYTHON.fullmatch(last_command(command) or "")
    return None if is_answer else f"the check's Python raised {kind}: {what}"


def _status(command: str, finished: Finished) -> str | None:
    code = finished.exit_code or 0
    if code == 127:
        return ABSENT
    if code == 126:
        return "a command can not be executed here"
    if 128 < code <= 128 + 64:
        return f"killed by {signal_name(code - 128)}"
    trouble = TROUBLE_STATUS.get((last_command(command) or "").rpartition("/")[2])
    return trouble[1] if trouble and trouble[0] == code else None

"""Whether the files that a check looks into are there at all: a search that had nothing to look at refutes nothing.

Looked for right before the check, by the same shell in the same folder or behind the same prefix, so that both see the same files.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping
from pathlib import Path

from kbtool.knowledge.checks import FILE_NEED, Need, parse_need
from kbtool.verification.process import run_command
from kbtool.verification.shell import shell_program

SEARCH_SECONDS = 10.0
"""Time limit of a search; a tree that has shown no such file by then counts as having none."""

SKIPPED = "*/site-packages/*"
"""Installed packages are not what a check looks into."""


def absent(needs: Iterable[str], environment: Mapping[str, str], *, folder: Path | str | None = None, via: str = "") -> list[str]:
    """The needs of files, as written, of which none lies in or below the folder. Raises OSError when no process can be started."""
    wanted = [need for need in needs if need.startswith(f"{FILE_NEED}:")]
    return [need for need in wanted if not _is_there(parse_need(need), environment, folder, via)]


def _is_there(need: Need, environment: Mapping[str, str], folder: Path | str | None, via: str) -> bool:
    program = shell_program(search_line(need), via)
    if program is None:
        return False
    found = run_command(program, environment=environment, timeout=SEARCH_SECONDS, folder=folder)
    return bool(found.stdout.strip())


def search_line(need: Need) -> str:
    """The shell line that prints one file of those that `need` asks for, or nothing."""
    root = f'"${{{need.variable}:-.}}"' if need.variable else "."
    names = " -o ".join(f"-name {shlex.quote(pattern)}" for pattern in (need.name or "").split("|"))
    return f"find {root} \\( {names} \\) ! -path {shlex.quote(SKIPPED)} | head -n 1"


def where(needs: Iterable[str], folder: str) -> str:
    """The needs that are not met as a reason, with what a person does about it."""
    return f"needs not met: {', '.join(needs)} (no such file in or below {folder}; `cd` to where the job runs)"

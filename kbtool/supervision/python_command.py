"""A Python command line taken apart: which of its words are the interpreter's options, and where the program begins."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
from collections.abc import Sequence
from pathlib import Path

from kbtool.errors import KbError

_PYTHON = re.compile(r"python(?:[23](?:\.\d+)?)?$")
_ISOLATING = re.compile(r"-[a-zA-Z]*[IES][a-zA-Z]*")
_WITH_VALUE = ("-X", "-W", "--check-hash-based-pycs")
_TRIAL_SECONDS = 30.0


def is_python(word: str) -> bool:
    """True for the name or path of an interpreter: ``python``, ``/opt/env/bin/python3.11``."""
    return bool(_PYTHON.search(os.path.basename(word)))


def program_at(command: Sequence[str]) -> int:
    """The index of the word where the interpreter's own options end: a file, ``-m``, ``-c`` or ``-``."""
    at = 1
    while at < len(command) and command[at].startswith("-") and command[at] not in ("-c", "-m", "-"):
        at += 2 if command[at] in _WITH_VALUE else 1
    return at


def isolation_of(command: Sequence[str]) -> str | None:
    """The option that keeps an interpreter from reading its environment or site (``-I``, ``-E``, ``-S``), if there is one."""
    if not command or not is_python(command[0]):
        return None
    return next((word for word in command[1 : program_at(command)] if _ISOLATING.fullmatch(word)), None)


def with_post_mortem(command: Sequence[str]) -> list[str]:
    """The command run through `kbtool.postmortem`, which looks at the values of the frames that failed.

    Raises KbError for anything but `python FILE` or `python -m MODULE`, and where that Python does not find kb.
    """
    at = program_at(command)
    if not is_python(command[0]) or at >= len(command) or command[at] in ("-c", "-"):
        raise KbError("--post-mortem needs a Python program", hint="`kb run --post-mortem -- python train.py …`")
    options = list(command[:at])
    if not _finds_kb(options):
        raise KbError(
            f"{command[0]}: this Python does not find kb, which has to be inside of it for --post-mortem",
            hint=f"`{command[0]} -m pip install {_source()}` puts it there",
        )
    return [*options, "-m", "kbtool.postmortem", *command[at:]]


def _source() -> str:
    """What pip can install this kb from: its checkout, or the name of the package."""
    checkout = Path(__file__).resolve().parents[2]
    return shlex.quote(str(checkout)) if (checkout / "pyproject.toml").exists() else "kbtool"


def _finds_kb(interpreter: Sequence[str]) -> bool:
    try:
        trial = subprocess.run(
            [*interpreter, "-c", "import kbtool.postmortem"], stdin=subprocess.DEVNULL, capture_output=True, timeout=_TRIAL_SECONDS
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return trial.returncode == 0

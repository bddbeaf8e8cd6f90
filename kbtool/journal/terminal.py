"""Who is asking: the bases and the terminal that "the last match" belongs to."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from kbtool.settings import place_key


def terminal_key() -> str:
    """The terminal's name and session; where there is no terminal (pipes of a job, an agent's shell) one key for all of them.

    The session belongs to it because terminals' names are used again: a new window must not inherit the last match of a closed one.
    """
    for descriptor in (2, 1, 0):
        try:
            return f"{os.ttyname(descriptor)} of session {os.getsid(0)}"
        except (OSError, AttributeError):  # no terminal; on Windows neither call exists
            continue
    return "no terminal"


def base_key(roots: Iterable[Path]) -> str:
    """A short name for the bases in use, stable whatever folder they are seen from."""
    return "+".join(place_key(root) for root in roots)

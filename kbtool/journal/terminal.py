"""Who is asking: the bases and the terminal that "the last match" belongs to."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from kbtool.settings import place_key


def terminal_key() -> str:
    """The terminal's name; where there is none (pipes of a job, an agent's shell) one key for all of them."""
    for descriptor in (2, 1, 0):
        try:
            return os.ttyname(descriptor)
        except OSError:
            continue
    return "no terminal"


def base_key(roots: Iterable[Path]) -> str:
    """A short name for the bases in use, stable whatever folder they are seen from."""
    return "+".join(place_key(root) for root in roots)

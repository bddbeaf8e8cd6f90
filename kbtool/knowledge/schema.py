"""The front matter's keys and what each may hold: the one place that says so, for reading, lint and documentation."""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

from kbtool.model import DEFAULT_TIMEOUT, Status
from kbtool.quantities import seconds

ID = re.compile(r"[a-z][a-z0-9-]{2,79}")
"""An entry's id, which is its file's name: lower case, digits and hyphens, 3 to 80 characters."""

MAX_TIMEOUT = 3600.0


@dataclass(frozen=True)
class Key:
    """One key: whether it holds a list, what it means, and a function that raises ValueError for a value it may not hold."""

    name: str
    is_list: bool
    meaning: str
    check: Callable[[str], object] = str


def duration(text: str) -> float:
    """Seconds that a check may take, as `quantities.seconds` reads them; raises ValueError."""
    try:
        value = seconds(text)
    except ValueError:
        value = 0.0
    if not 0 < value <= MAX_TIMEOUT:
        raise ValueError(f"`{text}` is no duration between 1ms and 1h, such as `10s`")
    return value


def today() -> datetime.date:
    """The day in UTC, as every date and moment that kb writes: a base is shared between time zones."""
    return datetime.datetime.now(datetime.timezone.utc).date()


@lru_cache(256)
def _status(text: str) -> Status:
    try:
        return Status(text)
    except ValueError:
        raise ValueError(f"`{text}` is none of {', '.join(status.value for status in Status)}") from None


@lru_cache(256)
def _date(text: str) -> datetime.date:
    try:
        return datetime.date.fromisoformat(text)
    except ValueError:
        raise ValueError(f"`{text}` is no date of the form 2026-11-30") from None


@lru_cache(256)
def _need(text: str) -> object:
    from kbtool.knowledge.checks import parse_need

    return parse_need(text)


@lru_cache(256)
def _confirms(text: str) -> object:
    from kbtool.knowledge.checks import parse_confirms

    return parse_confirms(text)


KEYS: dict[str, Key] = {
    key.name: key
    for key in (
        Key("tags", True, "words to find the entry by"),
        Key("family", False, "branch of the fault tree"),
        Key("confirms", False, "how to read the check's result; without it a person judges", _confirms),
        Key("needs", True, "what must be there for the check to answer", _need),
        Key("timeout", False, f"how long the check may take (default {DEFAULT_TIMEOUT:g}s)", duration),
        Key("applies_to", True, "versions the fault is known for; a warning when the environment differs"),
        Key("status", False, "draft, active or retired", _status),
        Key("created", False, "day the entry was written", _date),
    )
}

"""Lengths of time that a person types for an option."""

from __future__ import annotations

from kbtool import quantities
from kbtool.errors import KbError


def seconds_of(text: str) -> float:
    """Seconds, as `quantities.seconds` reads them. Raises KbError for anything else."""
    try:
        return quantities.seconds(text)
    except ValueError as error:
        raise KbError(str(error), hint="write 90s, 5m or 500ms") from None

"""Secrets and private places are taken out of a text before it is stored or shown to others."""
from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Redacted:
    """A text without its secrets, and what was replaced."""
    text: str
    replacements: tuple[tuple[str, str], ...] = ()
def redact(text: str) -> Redacted:
    """The text as it is, for now."""
    return Redacted(text)

"""The shape of a failure nobody knows: its message without what differs from one time to the next, so that likes are counted together."""

from __future__ import annotations

from kbtool.knowledge.redaction import redact
from kbtool.model import Failure
from kbtool.patterns import Pattern

SHAPE_LIMIT = 200

_VARIABLE = (
    (Pattern(r"'[^'\n]{0,200}'|\"[^\"\n]{0,200}\"|`[^`\n]{0,200}`"), "'…'"),
    (Pattern(r"(?<!\w)(?:[A-Za-z]:\\|~?/)[^\s:,;'\")\]]+"), "/…"),
    (Pattern(r"\b0x[0-9a-fA-F]+\b|\b[0-9a-f]{8,}\b"), "#"),
    (Pattern(r"\d+(?:\.\d+)*"), "#"),
    (Pattern(r"\s+"), " "),
)
"""What gives way, in this order: quoted names, paths, addresses and hashes, numbers, blanks."""


def shape_of(failure: Failure | None) -> str | None:
    """The shape of a failure's message, or None where none was found."""
    if failure is None:
        return None
    first = next((line for line in failure.message.split("\n") if line.strip()), "")
    text = redact(f"{failure.type}: {first}" if failure.type else first).text[: 4 * SHAPE_LIMIT]
    for pattern, instead in _VARIABLE:
        text = pattern.sub(instead, text)
    return text.strip()[:SHAPE_LIMIT] or None

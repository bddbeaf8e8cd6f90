"""Numbers as people say them: a count with its noun, bytes, a duration."""

from __future__ import annotations

from kbtool.patterns import Pattern

_DURATION = Pattern(r"\s*(\d+(?:\.\d+)?)\s*(ms|s|m|h)?\s*$")
_UNITS = {"ms": 0.001, "s": 1.0, None: 1.0, "m": 60.0, "h": 3600.0}


def seconds(text: str) -> float:
    """Seconds in ``10s``, ``500ms``, ``2m``, ``1h`` or a bare number of seconds; raises ValueError for anything else, and for none at all."""
    found = _DURATION.match(text)
    value = float(found[1]) * _UNITS[found[2]] if found else 0.0
    if not 0 < value < float("inf"):
        raise ValueError(f"`{text}` is no duration")
    return value


def duration(seconds: float) -> str:
    """Seconds as people say them: ``340 µs``, ``12 ms``, ``4.2 s``, ``7 min``, ``3 h 5 min``, ``2 d 4 h``."""
    if seconds < 0.001:
        return f"{max(seconds, 0) * 1e6:.0f} µs"
    if seconds < 1:
        return f"{seconds * 1000:.0f} ms"
    if seconds < 100:
        return f"{seconds:.1f} s"
    minutes = round(seconds / 60)
    if minutes < 60:
        return f"{minutes} min"
    if minutes < 48 * 60:
        return f"{minutes // 60} h {minutes % 60} min"
    return f"{minutes // 1440} d {minutes % 1440 // 60} h"


def size(count: float) -> str:
    """Bytes as people say them: ``512 B``, ``3.4 MiB``."""
    for unit in ("B", "KiB", "MiB", "GiB"):
        if abs(count) < 1024:
            return f"{count:.0f} {unit}" if unit == "B" else f"{count:.1f} {unit}"
        count /= 1024
    return f"{count:.1f} TiB"


def plural(count: int, one: str, many: str = "") -> str:
    """A count with its noun: ``1 connection``, ``3 connections``."""
    return f"{count} {one if count == 1 else many or one + 's'}"

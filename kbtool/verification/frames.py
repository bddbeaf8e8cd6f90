"""The frames of a traceback: which one defines the names of an expression, and what its values look like in a few words.

Values are described, never copied: type, dtype, shape and a few numbers.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import FrameType, TracebackType
from typing import Any

TEXT_LIMIT = 80
"""Characters of a value that has neither shape nor length."""

SHOWN_NUMBERS = 4
"""Numbers shown of an array or sequence."""

SMALL = 1_000_000
"""Elements up to which minimum and maximum are worth computing."""


@dataclass(frozen=True)
class Place:
    """One frame of a traceback: where it is, and the names that are visible there."""

    function: str
    path: str
    line: int
    values: Mapping[str, Any]

    def __str__(self) -> str:
        return f"{self.path}:{self.line} in {self.function}"


def places(traceback: TracebackType | None) -> list[Place]:
    """The frames of `traceback`, innermost first."""
    return [_place(frame, line) for frame, line in reversed(list(_walk(traceback)))]


def _walk(traceback: TracebackType | None) -> Iterator[tuple[FrameType, int]]:
    while traceback is not None:
        yield traceback.tb_frame, traceback.tb_lineno
        traceback = traceback.tb_next


def _place(frame: FrameType, line: int) -> Place:
    code = frame.f_code
    return Place(code.co_name, code.co_filename, line, {**frame.f_globals, **frame.f_locals})


def innermost_with(names: Iterable[str], candidates: Iterable[Place]) -> Place | None:
    """The first of `candidates` that defines all `names`."""
    wanted = set(names)
    return next((place for place in candidates if wanted <= set(place.values)), None)


def describe(value: Any) -> str:
    """A value in a few words: ``Tensor int64 (32,) min 0 max 10``. Never raises, never shows a whole array."""
    try:
        return _describe(value)
    except Exception as error:  # a value of a broken program may break on being looked at
        return f"{type(value).__name__} (could not be looked at: {type(error).__name__})"


def _describe(value: Any) -> str:
    kind = type(value).__name__
    shape = getattr(value, "shape", None)
    if shape is not None and hasattr(value, "dtype"):
        dtype = str(value.dtype).replace("torch.", "")
        device = getattr(value, "device", None)
        where = f" on {device}" if device is not None and str(device) != "cpu" else ""
        return f"{kind} {dtype} {tuple(shape)}{where}{_numbers(value)}"
    if isinstance(value, (bool, int, float, complex, type(None))):
        return f"{kind} {value}"
    if isinstance(value, str):
        return f"str of {len(value)} characters" if len(value) > TEXT_LIMIT else f"str {value!r}"
    if isinstance(value, (list, tuple, set, frozenset, dict)):
        return f"{kind} of {len(value)}{_first_numbers(value)}"
    return f"{kind} of {len(value)}" if hasattr(value, "__len__") else kind


def _numbers(value: Any) -> str:
    """Minimum and maximum of an array that is small and on the CPU; reading a GPU after a device-side assert would raise again."""
    count = value.numel() if hasattr(value, "numel") else getattr(value, "size", 0)
    if not count or count > SMALL or "bool" in str(value.dtype) or "complex" in str(value.dtype):
        return ""
    if str(getattr(value, "device", "cpu")) != "cpu":
        return ""
    plain = value.detach() if hasattr(value, "detach") else value
    if count == 1:
        return f" value {_short(plain.item())}"
    return f" min {_short(plain.min().item())} max {_short(plain.max().item())}"


def _short(number: float) -> str:
    return f"{number:.4g}" if isinstance(number, float) else str(number)


def _first_numbers(value: Any) -> str:
    if not isinstance(value, (list, tuple)) or not all(isinstance(item, (int, float)) for item in value[:SHOWN_NUMBERS]):
        return ""
    first = ", ".join(_short(item) for item in value[:SHOWN_NUMBERS])
    return f": {first}{', …' if len(value) > SHOWN_NUMBERS else ''}" if value else ""

"""Text made safe for a terminal: what a log or an entry holds is shown, never obeyed.

Every control byte becomes visible in caret notation, bidirectional and zero-width characters become escapes. Colour is kb's own and
only on a terminal, never the text's.
"""

from __future__ import annotations

import os
import re
import sys
from typing import TYPE_CHECKING, TextIO

from kbtool.patterns import Pattern

if TYPE_CHECKING:
    from collections.abc import Sequence

_UNSAFE_ASCII = re.compile("[\x00-\x08\x0b-\x1f\x7f]")
_UNSAFE = Pattern("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]")
_UNSAFE_LINE = Pattern("[\x00-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]")

STYLES = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "blue": "34", "cyan": "36"}
"""The styles kb uses, by name, as SGR numbers."""


def _visible(found: re.Match[str]) -> str:
    code = ord(found.group())
    if code < 0x20:
        return "^" + chr(code + 64)
    if code == 0x7F:
        return "^?"
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


def safe(text: str) -> str:
    """`text` with everything a terminal would obey made visible; line ends and tabs stay."""
    return (_UNSAFE_ASCII if text.isascii() else _UNSAFE.regex).sub(_visible, text)


def safe_line(text: str) -> str:
    """`text` on one line: line ends and tabs are made visible too."""
    return text if text.isprintable() else _UNSAFE_LINE.regex.sub(_visible, text)


def wants_colour(stream: TextIO | None = None) -> bool:
    """True on a terminal, unless `NO_COLOR` is set or the terminal is dumb."""
    stream = stream or sys.stdout
    return not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb" and stream.isatty()


def styled(text: str, *names: str, stream: TextIO | None = None) -> str:
    """`text` in the named styles where `stream` wants colour, else as it is; `text` must be safe already."""
    if not names or not wants_colour(stream):
        return text
    return f"\x1b[{';'.join(STYLES[name] for name in names)}m{text}\x1b[0m"


def wrapped(text: str, indent: int) -> list[str]:
    """Prose as lines that fit beside `indent` columns: the terminal's width, 100 where there is none, never under 40."""
    import textwrap

    return textwrap.wrap(text, max(40, _width() - indent), break_long_words=False, break_on_hyphens=False) or [""]


def _width() -> int:
    try:
        return int(os.environ.get("COLUMNS") or os.get_terminal_size(sys.stdout.fileno()).columns)
    except (OSError, ValueError):
        return 100


def columns(rows: Sequence[Sequence[str]]) -> list[str]:
    """Rows of cells as lines that fit the terminal: the first column as wide as it must be, the others share the rest, long cells wrap."""
    import itertools
    import textwrap

    first = max(len(row[0]) for row in rows)
    others = len(rows[0]) - 1
    most = max(20, (_width() - 4 - first - 2 * others) // others)
    widths = [first, *(min(most, max(len(row[at]) for row in rows)) for at in range(1, others + 1))]
    lines = []
    for row in rows:
        cells = [textwrap.wrap(cell, width, break_on_hyphens=False) or [""] for cell, width in zip(row, widths, strict=True)]
        for parts in itertools.zip_longest(*cells, fillvalue=""):
            lines.append("  ".join(part.ljust(width) for part, width in zip(parts, widths, strict=True)).rstrip())
    return lines


def print_json(value: object) -> None:
    """One JSON document on stdout: ASCII only, so that any locale and any text pass."""
    import json

    sys.stdout.write(json.dumps(value, indent=2, ensure_ascii=True) + "\n")


def tell(message: str, *, hint: str | None = None) -> None:
    """Talk goes to stderr: one line, and a hint on its own."""
    sys.stderr.write(f"{safe(message)}\n")
    if hint:
        sys.stderr.write(f"hint: {safe(hint)}\n")

"""What the probes' printed answers share: findings as a list and a progress line on a terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from kbtool.cli.render import safe_line, styled
from kbtool.errors import KbError
from kbtool.supervision.readings import Reading


def print_readings(readings: Sequence[Reading]) -> None:
    """One finding a line."""
    for reading in readings:
        print(f"  {styled('→', 'yellow')} {safe_line(reading.text)}")


def progress_words() -> Callable[[str], None] | None:
    """Shows its argument on a line of stderr that is written anew each time; None where stderr is no terminal."""
    if not sys.stderr.isatty():
        return None

    def show(words: str) -> None:
        sys.stderr.write(f"\r\x1b[Kkb: {safe_line(words)}")
        sys.stderr.flush()

    return show


def progress(say: Callable[[float], str]) -> Callable[[float], None] | None:
    """The same for a number, which `say` puts into words."""
    show = progress_words()
    return (lambda number: show(say(number))) if show else None


def end_progress() -> None:
    """Wipe the progress line."""
    if sys.stderr.isatty():
        sys.stderr.write("\r\x1b[K")
        sys.stderr.flush()


def write_svg(path: Path, text: str) -> None:
    """Write a drawing where the person wants it. Raises KbError when that can not be."""
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise KbError(f"{path}: the drawing can not be written: {error.strerror}", hint="choose another place with `--svg FILE`") from None


def need_linux() -> None:
    """Raise KbError elsewhere: the probes read /proc."""
    if not sys.platform.startswith("linux"):
        raise KbError("kb probe needs Linux: it reads /proc", hint="`kb probe loader` and `kb match` work here too")

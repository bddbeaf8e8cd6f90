"""Ctrl-C, held back for the moment in which a helper program is started: it would otherwise run on with nobody who knows of it."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator


@contextlib.contextmanager
def interrupts_held() -> Iterator[None]:
    """What comes inside of the `with` block is raised as KeyboardInterrupt at its end.

    Only a main thread whose Ctrl-C is Python's own is concerned; a helper that is started inside still gets the system's default.
    """
    if threading.current_thread() is not threading.main_thread() or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield
        return
    pressed: list[int] = []
    signal.signal(signal.SIGINT, lambda number, frame: pressed.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        if pressed:
            raise KeyboardInterrupt

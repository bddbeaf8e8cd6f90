"""kb's own terminal while a job has one from kb: raw, so that each key and each byte passes untouched and acts once, in the job."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import termios
import threading
import tty

from kbtool.supervision.child import copy_size

_LOOK_AGAIN = 0.25
"""Seconds between looks at whether kb has come to the foreground."""


class Terminal:
    """The real terminal `real` on one side, the job's `master` on the other.

    While kb is a background job of its shell the terminal is left alone: no key is read and no setting changed.
    """

    def __init__(self, real: int, master: int, *, output_passes: bool, input_passes: bool):
        self._real = real
        self._master = master
        self._output_passes = output_passes
        self._input_passes = input_passes
        self._saved: list[object] | None = None
        self._stopped = threading.Event()
        self._keys: threading.Thread | None = None

    def attach(self) -> None:
        """Make the terminal raw if kb may, and begin to hand keys to the job."""
        self._go_raw()
        if self._input_passes and self._keys is None:
            self._keys = threading.Thread(target=self._pass_keys, name="kb-keys", daemon=True)
            self._keys.start()

    def detach(self) -> None:
        """Leave the terminal as it was found."""
        self._stopped.set()
        self._restore()

    def resize(self) -> None:
        """Tell the job's terminal the size of the real one."""
        with contextlib.suppress(OSError, termios.error):
            copy_size(self._real, self._master)

    def raw(self) -> bool:
        """True while a line feed written by kb itself needs its own carriage return."""
        return self._saved is not None and self._output_passes

    def suspend(self) -> None:
        """What Ctrl-Z asks for: stop the job, give the terminal back to the shell, stop kb; later the reverse.

        The job leads a session of its own, where the kernel drops SIGTSTP; so it is stopped by SIGSTOP.
        """
        group = os.tcgetpgrp(self._master)
        with contextlib.suppress(OSError):
            os.killpg(group, signal.SIGSTOP)
        self._restore()
        os.kill(os.getpid(), signal.SIGSTOP)
        self._go_raw()
        with contextlib.suppress(OSError):
            os.killpg(group, signal.SIGCONT)

    def _in_foreground(self) -> bool:
        try:
            return os.tcgetpgrp(self._real) == os.getpgrp()
        except OSError:
            return False

    def _go_raw(self) -> None:
        if self._saved is not None:
            return
        with contextlib.suppress(termios.error, OSError):
            if not self._in_foreground():
                self._set_job_output_processing(not self._output_passes)
                return
            saved = termios.tcgetattr(self._real)
            tty.setraw(self._real, termios.TCSANOW)
            if not self._output_passes:
                settings = termios.tcgetattr(self._real)
                settings[tty.OFLAG] = saved[tty.OFLAG]
                termios.tcsetattr(self._real, termios.TCSANOW, settings)
            self._saved = saved
            self._set_job_output_processing(bool(saved[tty.OFLAG] & termios.OPOST))

    def _restore(self) -> None:
        if self._saved is not None:
            with contextlib.suppress(termios.error, OSError):
                termios.tcsetattr(self._real, termios.TCSADRAIN, self._saved)  # type: ignore[arg-type]
            self._saved = None

    def _set_job_output_processing(self, wanted: bool) -> None:
        """Line feeds get their carriage return once: in the job's terminal when the real one is raw, else in the real one."""
        settings = termios.tcgetattr(self._master)
        flag = settings[tty.OFLAG]
        settings[tty.OFLAG] = flag | termios.OPOST if wanted else flag & ~termios.OPOST
        termios.tcsetattr(self._master, termios.TCSANOW, settings)

    def _pass_keys(self) -> None:
        while not self._stopped.is_set():
            if self._saved is None:
                self._stopped.wait(_LOOK_AGAIN)
                self._go_raw()
            elif select.select([self._real], [], [], _LOOK_AGAIN)[0] and not self._stopped.is_set() and not self._pass_some():
                return

    def _pass_some(self) -> bool:
        try:
            keys = os.read(self._real, 4096)
            if not keys:
                return False
            if self._asks_to_suspend(keys):
                self.suspend()
            else:
                _write_all(self._master, keys)
        except OSError:
            return False
        return True

    def _asks_to_suspend(self, keys: bytes) -> bool:
        settings = termios.tcgetattr(self._master)
        return bool(settings[tty.LFLAG] & termios.ISIG) and keys == settings[tty.CC][termios.VSUSP]


def _write_all(fd: int, data: bytes) -> None:
    while data:
        data = data[os.write(fd, data) :]

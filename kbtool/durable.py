"""Files that survive: atomic replacement and locks that the kernel frees when their holder dies."""

from __future__ import annotations

import contextlib
import os
import stat
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from kbtool.errors import KbError

TEMPORARY_PREFIX = ".kb-tmp-"
"""Files that a killed writer may leave behind: ignored by every reader, swept by the next writer."""

LOCK_FILE = ".kb-lock"
"""The lock of a folder that can not be locked itself."""

LOCK_DEADLINE = 30.0
"""Seconds to wait for another writer before giving up."""

_LEFTOVER_AGE = 3600.0


def write_atomically(path: Path, data: bytes, *, mode: int | None = None, before_replace: Callable[[], None] | None = None) -> None:
    """Replace `path` by `data` so that every reader sees the old bytes or the new ones, also after a power loss.

    Written beside the target, fsynced, renamed, and the folder fsynced (a rename without that can come back empty on ext4).
    `mode` is the permission of a new file; an existing file keeps its own. `before_replace` is called when the bytes are safe
    and nothing has changed yet; what it raises leaves the target as it was.

    Raises OSError as the system gives it (full disk, no permission); the target then holds its old bytes.
    """
    target = Path(os.path.realpath(path))
    folder = target.parent
    descriptor, temporary = tempfile.mkstemp(prefix=TEMPORARY_PREFIX, dir=folder)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fchmod(file.fileno(), _mode_for(target, mode))
            os.fsync(file.fileno())
        if before_replace is not None:
            before_replace()
        os.replace(temporary, target)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise
    _sync_folder(folder)


def _mode_for(target: Path, mode: int | None) -> int:
    try:
        return stat.S_IMODE(os.stat(target).st_mode)
    except OSError:
        pass
    if mode is not None:
        return mode
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


def _sync_folder(folder: Path) -> None:
    with contextlib.suppress(OSError):  # Windows and some network file systems cannot open or sync a folder
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def sweep_leftovers(folder: Path, *, older_than: float = _LEFTOVER_AGE) -> int:
    """Remove temporary files that killed writers left in `folder` more than `older_than` seconds ago; returns how many."""
    swept = 0
    for leftover in folder.glob(TEMPORARY_PREFIX + "*"):
        with contextlib.suppress(OSError):
            if time.time() - leftover.stat().st_mtime > older_than:
                leftover.unlink()
                swept += 1
    return swept


@contextlib.contextmanager
def locked(path: Path, *, deadline: float = LOCK_DEADLINE, waiting: Callable[[], None] | None = None) -> Iterator[None]:
    """Hold `path` exclusively; `waiting` is called once when another process has it.

    A folder is locked itself, so that no lock file lies about in a repository; where the system can not do that (Windows, some
    network file systems) a hidden file in it is. The lock goes with its holder: the kernel frees it even after kill -9.

    Raises KbError when the lock is still held after `deadline` seconds, OSError when a lock file cannot be made.
    """
    descriptor = _open_for_lock(path)
    try:
        _acquire(descriptor, path, deadline, waiting)
        yield
    finally:
        os.close(descriptor)


def _open_for_lock(path: Path) -> int:
    if not path.is_dir():
        return _open_lock_file(path)
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_CLOEXEC", 0))
    except OSError:
        return _open_lock_file(path / LOCK_FILE)
    try:
        if _try_lock(descriptor):
            return descriptor  # flock is granted again to the descriptor that holds it
    except OSError:
        os.close(descriptor)
        return _open_lock_file(path / LOCK_FILE)
    return descriptor


def _open_lock_file(path: Path) -> int:
    return os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o666)


def _acquire(descriptor: int, path: Path, deadline: float, waiting: Callable[[], None] | None) -> None:
    if _try_lock(descriptor):
        return
    if waiting is not None:
        waiting()
    if not _wait_in_line(descriptor, deadline):
        raise KbError(
            f"{path}: another process has held this lock for more than {deadline:g} s",
            hint=f"find it with `fuser {path}` and run the command again",
        )


def _wait_in_line(descriptor: int, deadline: float) -> bool:
    """Queue for the lock in the kernel: whoever only tries now and then can lose to busier ones for ever (seen with 20 writers)."""
    try:
        import fcntl
    except ImportError:  # Windows has no queue to stand in
        return _try_for(descriptor, deadline)
    import threading

    own = os.dup(descriptor)  # the same lock: where the caller has given up and closed its descriptor, closing this one frees it
    granted = threading.Event()

    def wait() -> None:
        try:
            fcntl.flock(own, fcntl.LOCK_EX)
            granted.set()
        finally:
            os.close(own)

    threading.Thread(target=wait, daemon=True).start()
    return granted.wait(deadline)


def _try_for(descriptor: int, deadline: float) -> bool:
    end = time.monotonic() + deadline
    while not _try_lock(descriptor):
        if time.monotonic() > end:
            return False
        time.sleep(0.01)
    return True


def _try_lock(descriptor: int) -> bool:
    try:
        import fcntl
    except ImportError:  # Windows
        import msvcrt

        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
        except OSError:
            return False
        return True
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True

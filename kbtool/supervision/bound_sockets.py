"""Sockets that hold a port and are in none of the kernel's tables: bound, but `listen` was never called.

Nothing under /proc tells their port. kb borrows a copy of the descriptor (pidfd_getfd, Linux 5.6) and asks the copy for its address;
the program itself is not stopped and does not notice.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import socket
import sys
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass

from kbtool.supervision.holders import socket_inodes

_PIDFD_GETFD = 438
"""The number of the system call, the same on every machine that has it."""

_INTERNET = (socket.AF_INET, socket.AF_INET6)


@dataclass(frozen=True)
class BoundSocket:
    """A TCP socket with a port of its own that neither listens nor is connected."""

    pid: int
    local: tuple[str, int]
    inode: str


def bound_sockets(pids: Iterable[int], known: Collection[str]) -> list[BoundSocket]:
    """Bound, silent sockets of `pids`; `known` are the inodes that the kernel's tables show. Empty where borrowing is not allowed."""
    found = []
    for pid in pids:
        unknown = {inode: number for inode, number in socket_inodes(pid).items() if inode not in known}
        found += [BoundSocket(pid, place, inode) for inode, number in unknown.items() if (place := _bound_to(pid, number))]
    return found


def _bound_to(pid: int, descriptor: int) -> tuple[str, int] | None:
    with contextlib.suppress(OSError), _borrowed(pid, descriptor) as copy:
        if copy.family in _INTERNET and copy.type == socket.SOCK_STREAM and not _is_connected(copy):
            host, port = copy.getsockname()[:2]
            return (host, port) if port else None
    return None


def _is_connected(copy: socket.socket) -> bool:
    try:
        copy.getpeername()
    except OSError:
        return False
    return True


@contextlib.contextmanager
def _borrowed(pid: int, descriptor: int) -> Iterator[socket.socket]:
    """A copy of another process's socket. Raises OSError where it has gone or may not be had."""
    if not sys.platform.startswith("linux"):
        raise OSError("only Linux lends descriptors")
    handle = os.pidfd_open(pid)
    try:
        library = ctypes.CDLL(None, use_errno=True)
        copied = library.syscall(_PIDFD_GETFD, handle, descriptor, 0)
        if copied < 0:
            raise OSError(ctypes.get_errno(), "the descriptor can not be borrowed")
    finally:
        os.close(handle)
    copy = socket.socket(fileno=copied)
    try:
        yield copy
    finally:
        copy.close()

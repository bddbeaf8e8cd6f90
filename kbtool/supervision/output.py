"""What the job printed: counted, its beginning and its end kept, the newest part handed to the watch. Memory stays bounded."""

from __future__ import annotations

import threading
import time
from collections import deque

HEAD_BYTES = 256 << 10
"""Kept from the start: the first real failure often stands before megabytes of its fallout."""

TAIL_BYTES = 1 << 20
"""Kept from the end."""

PENDING_BYTES = 1 << 20
"""Handed to the watch at a time; of more than that only the newest part is read for metrics."""

GAP_MARK = b"\n[kb: %d bytes in between were not kept]\n"


class Output:
    """Collects chunks as they pass. `add` is called by the relay and must stay cheap; everything else is for the watch."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._head = bytearray()
        self._tail: deque[bytes] = deque()
        self._tail_size = 0
        self._pending: deque[bytes] = deque()
        self._pending_size = 0
        self._dropped = 0
        self.total = 0
        """Bytes printed so far."""
        self.first_at: float | None = None
        self.last_at: float | None = None
        """Monotonic seconds of the first and the newest output."""

    def add(self, chunk: bytes) -> None:
        """Note what has just been passed on."""
        with self._lock:
            self.last_at = time.monotonic()
            if self.first_at is None:
                self.first_at = self.last_at
            self.total += len(chunk)
            self._pending.append(chunk)
            self._pending_size += len(chunk)
            while self._pending_size > PENDING_BYTES and len(self._pending) > 1:
                self._pending_size -= len(self._pending.popleft())
            self._keep(chunk)

    def _keep(self, chunk: bytes) -> None:
        room = HEAD_BYTES - len(self._head)
        if room > 0:
            self._head += chunk[:room]
            chunk = chunk[room:]
            if not chunk:
                return
        self._tail.append(chunk)
        self._tail_size += len(chunk)
        while self._tail_size > TAIL_BYTES and len(self._tail) > 1:
            oldest = self._tail.popleft()
            self._tail_size -= len(oldest)
            self._dropped += len(oldest)

    def take_new(self) -> bytes:
        """What was printed since the last call, the oldest part left out when it was too much."""
        with self._lock:
            new = b"".join(self._pending)
            self._pending.clear()
            self._pending_size = 0
        return new

    def kept(self) -> bytes:
        """The beginning and the end of everything printed, with a line that says how much is missing between them."""
        with self._lock:
            gap = GAP_MARK % self._dropped if self._dropped else b""
            return bytes(self._head) + gap + b"".join(self._tail)

    def silent_for(self, since: float) -> float:
        """Seconds since the newest output, or since `since` (monotonic) when there was none."""
        return time.monotonic() - (self.last_at if self.last_at is not None else since)

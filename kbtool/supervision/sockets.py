"""Sockets in words: who listens, who is the peer, in which state, read from /proc/net."""

from __future__ import annotations

import contextlib
import ipaddress
import socket
import sys
from dataclasses import dataclass
from pathlib import Path

STATES = {
    "01": "ESTABLISHED", "02": "SYN_SENT", "03": "SYN_RECV", "04": "FIN_WAIT1", "05": "FIN_WAIT2", "06": "TIME_WAIT", "07": "CLOSE",
    "08": "CLOSE_WAIT", "09": "LAST_ACK", "0A": "LISTEN", "0B": "CLOSING",
}  # fmt: skip
"""From the kernel's net/tcp_states.h."""


@dataclass(frozen=True)
class Socket:
    """One TCP socket."""

    local: tuple[str, int]
    remote: tuple[str, int]
    state: str
    inode: str

    def words(self) -> str:
        """One phrase about it."""
        if self.state == "LISTEN":
            return f"listening socket {_address(self.local)}"
        return f"connection {_address(self.local)} to {_address(self.remote)} ({self.state})"


def tcp_sockets(pid: int | str = "self") -> list[Socket]:
    """All TCP sockets in the network namespace of a process."""
    found: list[Socket] = []
    for table in ("tcp", "tcp6"):
        with contextlib.suppress(OSError):
            for line in Path(f"/proc/{pid}/net/{table}").read_text().splitlines()[1:]:
                fields = line.split()
                found.append(Socket(_parse(fields[1]), _parse(fields[2]), STATES.get(fields[3], fields[3]), fields[9]))
    return found


def peer_of(pid: int, link: str) -> str:
    """The socket behind a descriptor link such as ``socket:[123]``, in words."""
    inode = link[len("socket:[") : -1]
    for found in tcp_sockets(pid):
        if found.inode == inode:
            return found.words()
    return "a local or datagram socket"


def _parse(text: str) -> tuple[str, int]:
    packed, port = text.split(":")
    words = bytes.fromhex(packed)
    if sys.byteorder == "little":
        words = b"".join(words[at : at + 4][::-1] for at in range(0, len(words), 4))
    address = socket.inet_ntop(socket.AF_INET if len(words) == 4 else socket.AF_INET6, words)
    mapped = getattr(ipaddress.ip_address(address), "ipv4_mapped", None)
    return str(mapped or address), int(port, 16)


def _address(place: tuple[str, int]) -> str:
    host, port = place
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"

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

_TIMER_TICKS = 100
"""The kernel shows timers in clock ticks for user space, which are hundredths of a second."""


@dataclass(frozen=True)
class Socket:
    """One TCP socket."""

    local: tuple[str, int]
    remote: tuple[str, int]
    state: str
    inode: str
    protocol: str = "tcp"
    unsent: int = 0
    """Bytes given by the program that the peer has not taken."""
    unread: int = 0
    """Bytes arrived that the program has not read; of a listening socket: connections that nobody has accepted yet."""
    timer: float = 0.0
    """Seconds until its timer runs out: the rest of TIME_WAIT, the next retransmission."""
    retries: int = 0

    def words(self) -> str:
        """One phrase about it."""
        if self.state == "LISTEN":
            return f"listening socket {address(self.local)}"
        return f"connection {address(self.local)} to {address(self.remote)} ({self.state})"


def tcp_sockets(pid: int | str = "self") -> list[Socket]:
    """All TCP sockets in the network namespace of a process. A socket that was bound and never listens is in no table."""
    return _sockets(pid, "tcp")


def udp_sockets(pid: int | str = "self") -> list[Socket]:
    """All UDP sockets in the network namespace of a process; ESTABLISHED means that a peer was chosen."""
    return _sockets(pid, "udp")


def _sockets(pid: int | str, protocol: str) -> list[Socket]:
    found: list[Socket] = []
    for table in (protocol, f"{protocol}6"):
        with contextlib.suppress(OSError):
            found += [_row(line.split(), protocol) for line in Path(f"/proc/{pid}/net/{table}").read_text().splitlines()[1:]]
    return found


def _row(fields: list[str], protocol: str) -> Socket:
    """One line of /proc/net/tcp; the columns are described in the kernel's networking/proc_net_tcp."""
    unsent, unread = (int(part, 16) for part in fields[4].split(":"))
    timer = int(fields[5].split(":")[1], 16) / _TIMER_TICKS
    state = STATES.get(fields[3], fields[3])
    return Socket(_parse(fields[1]), _parse(fields[2]), state, fields[9], protocol, unsent, unread, timer, int(fields[6], 16))


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
    host = socket.inet_ntop(socket.AF_INET if len(words) == 4 else socket.AF_INET6, words)
    mapped = getattr(ipaddress.ip_address(host), "ipv4_mapped", None)
    return str(mapped or host), int(port, 16)


def address(place: tuple[str, int]) -> str:
    """A host and port as people write them."""
    host, port = place
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"

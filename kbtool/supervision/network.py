"""The network of a running process and its children: where they listen, where they are connected, and what stays unanswered.

All of it is read under /proc, a few times over a short while, because an attempt to connect may last only a moment. A connection that
is refused leaves no socket behind; the kernel's counter of failed attempts still tells that there was one.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from kbtool.errors import KbError
from kbtool.supervision.bound_sockets import BoundSocket, bound_sockets
from kbtool.supervision.family import descendants_of
from kbtool.supervision.holders import Holder, describe, holders_of, may_see_descriptors, socket_inodes
from kbtool.supervision.sockets import Socket, address, tcp_sockets, udp_sockets

PERIOD = 0.1
"""Seconds between two looks."""

DNS_PORT = 53
TRYING = ("SYN_SENT",)


@dataclass(frozen=True)
class Owned:
    """A socket and the processes of the job that have it."""

    socket: Socket
    pids: tuple[int, ...]


@dataclass(frozen=True)
class NetworkUse:
    """What was seen of a job's network."""

    pids: tuple[int, ...]
    sockets: tuple[Owned, ...]
    """At the last look."""
    attempts: tuple[Owned, ...] = ()
    """Connections that were in SYN_SENT at some look: asked for and not answered."""
    asked_names: tuple[str, ...] = ()
    """Nameservers that a query was open to at some look."""
    bound: tuple[BoundSocket, ...] = ()
    peers: Mapping[tuple[str, int], Holder] = field(default_factory=dict)
    """Who has the other end, where it is on this machine."""
    failed_attempts: int = 0
    """Connection attempts that failed meanwhile, of all processes that share this network."""
    nameservers: tuple[str, ...] = ()
    unix: int = 0
    """Local (Unix domain) sockets."""
    hidden: tuple[int, ...] = ()
    """Processes whose descriptors this user may not see."""

    @property
    def used(self) -> bool:
        """True when the job has anything to do with a network."""
        return bool(self.sockets or self.attempts or self.bound or self.asked_names)

    def listening(self) -> list[Owned]:
        """Sockets that accept connections."""
        return [one for one in self.sockets if one.socket.state == "LISTEN"]

    def connected(self) -> list[Owned]:
        """TCP connections, open or closing."""
        return [one for one in self.sockets if one.socket.protocol == "tcp" and one.socket.state not in ("LISTEN", *TRYING)]

    def to_json(self) -> dict[str, object]:
        """The facts as `--json` gives them."""
        return {
            "pids": list(self.pids),
            "sockets": [self._socket_json(one) for one in self.sockets],
            "attempts": [self._socket_json(one) for one in self.attempts],
            "bound": [{"pid": one.pid, "local": address(one.local)} for one in self.bound],
            "failed_attempts": self.failed_attempts,
            "nameservers": list(self.nameservers),
            "asked_names": list(self.asked_names),
            "unix": self.unix,
        }

    def _socket_json(self, one: Owned) -> dict[str, object]:
        peer = self.peers.get(one.socket.remote)
        return {
            "protocol": one.socket.protocol,
            "local": address(one.socket.local),
            "remote": None if one.socket.state == "LISTEN" else address(one.socket.remote),
            "state": one.socket.state,
            "pids": list(one.pids),
            "peer_pid": peer.pid if peer else None,
            "unsent": one.socket.unsent,
            "unread": one.socket.unread,
            "retries": one.socket.retries,
        }


def look_at_network(pid: int, seconds: float, *, progress: Callable[[float], object] | None = None) -> NetworkUse:
    """Watch the network of `pid` and its descendants for `seconds`; `progress` is told the seconds that have passed.

    Raises KbError when there is no such process, or when this user may see nothing of it.
    """
    if not Path(f"/proc/{pid}").exists():
        raise KbError(f"no process has the number {pid}", hint="`ps aux` lists them")
    if not may_see_descriptors(pid):
        owner = describe(pid)
        raise KbError(f"the sockets of PID {pid} are not shown: it belongs to {owner.user if owner else 'another user'}", hint="ask again with sudo (in a container: with `--cap-add=SYS_PTRACE`)")
    failed = failed_attempts(pid)
    attempts: dict[str, Owned] = {}
    asked: dict[str, None] = {}
    begun = time.monotonic()
    while True:
        pids = (pid, *descendants_of(pid))
        seen = _owned(pids)
        attempts.update({one.socket.inode: one for one in seen if one.socket.state in TRYING})
        asked.update({address(one.socket.remote): None for one in seen if _asks_for_name(one.socket)})
        passed = time.monotonic() - begun
        if passed >= seconds or not Path(f"/proc/{pid}").exists():
            break
        if progress is not None:
            progress(passed)
        time.sleep(PERIOD)
    return NetworkUse(
        pids,
        tuple(seen),
        tuple(attempts.values()),
        tuple(asked),
        tuple(bound_sockets(pids, {one.inode for one in tcp_sockets(pid) + udp_sockets(pid)})),
        _peers(pid, seen),
        max(failed_attempts(pid) - failed, 0),
        nameservers(pid),
        _unix_sockets(pids),
        tuple(one for one in pids if not may_see_descriptors(one)),
    )


def _owned(pids: Sequence[int]) -> list[Owned]:
    owners: dict[str, list[int]] = {}
    for pid in pids:
        for inode in socket_inodes(pid):
            owners.setdefault(inode, []).append(pid)
    table = tcp_sockets(pids[0]) + udp_sockets(pids[0])
    return [Owned(one, tuple(owners[one.inode])) for one in table if one.inode in owners]


def _asks_for_name(one: Socket) -> bool:
    return one.remote[1] == DNS_PORT


def _peers(pid: int, seen: Sequence[Owned]) -> dict[tuple[str, int], Holder]:
    """The processes at the other ends that lie on this machine: their local end is our remote one."""
    wanted = {(one.socket.remote, one.socket.local) for one in seen if one.socket.state == "ESTABLISHED" and one.socket.protocol == "tcp"}
    ends = {one.inode: one.local for one in tcp_sockets(pid) if (one.local, one.remote) in wanted and one.inode != "0"}
    found: dict[tuple[str, int], Holder] = {}
    for inode, pids in holders_of(ends).items():
        holder = describe(pids[0])
        if holder is not None:
            found[ends[inode]] = holder
    return found


def failed_attempts(pid: int) -> int:
    """Connection attempts that have failed so far in the network that a process uses; 0 where the kernel does not tell."""
    with contextlib.suppress(OSError, ValueError, IndexError):
        names, values = [line.split() for line in Path(f"/proc/{pid}/net/snmp").read_text().splitlines() if line.startswith("Tcp:")]
        return int(values[names.index("AttemptFails")])
    return 0


def nameservers(pid: int) -> tuple[str, ...]:
    """The nameservers in the resolv.conf that the process sees."""
    for root in (Path("/proc", str(pid), "root"), Path("/")):
        with contextlib.suppress(OSError):
            words = [line.split() for line in (root / "etc" / "resolv.conf").read_text(errors="replace").splitlines()]
            return tuple(line[1] for line in words if len(line) > 1 and line[0] == "nameserver")
    return ()


def _unix_sockets(pids: Sequence[int]) -> int:
    with contextlib.suppress(OSError, IndexError):
        known = {line.split()[6] for line in Path(f"/proc/{pids[0]}/net/unix").read_text(errors="replace").splitlines()[1:]}
        return len({inode for pid in pids for inode in socket_inodes(pid)} & known)
    return 0

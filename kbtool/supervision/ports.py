"""Who has a TCP port on this machine: who listens on which address, who only bound it, which connections still use it."""

from __future__ import annotations

import errno
import socket
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from kbtool.supervision.bound_sockets import bound_sockets
from kbtool.supervision.holders import Holder, describe, holders_of, processes
from kbtool.supervision.sockets import Socket, tcp_sockets

ANY_ADDRESS = ("0.0.0.0", "::")


@dataclass(frozen=True)
class Listening:
    """One listening socket and the processes that have it; none are known where they belong to others."""

    address: str
    waiting: int
    """Connections that the kernel has taken and the program has not accepted."""
    holders: tuple[Holder, ...] = ()


@dataclass(frozen=True)
class PortUse:
    """Everything about a port at one moment."""

    port: int
    listening: tuple[Listening, ...] = ()
    bound: tuple[Holder, ...] = ()
    """Processes that bound it and never called listen."""
    connections: tuple[Socket, ...] = ()
    """Other sockets whose local end it is."""
    owners: Mapping[str, tuple[Holder, ...]] = field(default_factory=dict)
    """Who has these connections, by inode."""
    refusal: int | None = None
    """The error number with which binding it fails, where nothing above explains one; None when it is free or was not tried."""
    outgoing_range: tuple[int, int] = (0, 0)
    """The ports that the kernel takes for outgoing connections."""

    @property
    def holders(self) -> tuple[Holder, ...]:
        """Whoever has the port, each once, oldest first."""
        everyone = [holder for one in self.listening for holder in one.holders] + list(self.bound)
        everyone += [holder for holders in self.owners.values() for holder in holders]
        return tuple(sorted({holder.pid: holder for holder in everyone}.values(), key=lambda holder: (holder.since, holder.pid)))

    @property
    def used(self) -> bool:
        """True when anything holds it."""
        return bool(self.listening or self.bound or self.connections or self.refusal == errno.EADDRINUSE)

    def to_json(self) -> dict[str, object]:
        """The facts as `--json` gives them."""
        return {
            "port": self.port,
            "listening": [
                {"address": one.address, "waiting": one.waiting, "pids": [holder.pid for holder in one.holders]} for one in self.listening
            ],
            "bound": [holder.pid for holder in self.bound],
            "connections": states(self.connections),
            "holders": [holder_json(holder) for holder in self.holders],
        }


def look_at_port(port: int) -> PortUse:
    """Everything that uses a TCP port. Nothing is changed; only a port that seems free is bound for an instant, to be sure."""
    table = tcp_sockets()
    local = [one for one in table if one.local[1] == port]
    owners = _owners(local)
    listening = tuple(Listening(one.local[0], one.unread, owners.get(one.inode, ())) for one in local if one.state == "LISTEN")
    connections = tuple(one for one in local if one.state != "LISTEN")
    bound = () if listening else _bound(port, {one.inode for one in table})
    refusal = None if listening or bound or connections else try_to_bind(port)
    others = {inode: holders for inode, holders in owners.items() if inode in {one.inode for one in connections}}
    return PortUse(port, listening, bound, connections, others, refusal, outgoing_range())


def _owners(sockets: Sequence[Socket]) -> dict[str, tuple[Holder, ...]]:
    found = holders_of({one.inode for one in sockets if one.inode != "0"})
    return {inode: tuple(holder for pid in pids if (holder := describe(pid))) for inode, pids in found.items()}


def _bound(port: int, known: set[str]) -> tuple[Holder, ...]:
    pids = {one.pid for one in bound_sockets(processes(), known) if one.local[1] == port}
    return tuple(holder for pid in sorted(pids) if (holder := describe(pid)))


def try_to_bind(port: int) -> int | None:
    """The error number of binding the port on all addresses; None when it is free."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as trial:
        try:
            trial.bind(("", port))
        except OSError as error:
            return error.errno
    return None


def outgoing_range() -> tuple[int, int]:
    """First and last port that the kernel gives to outgoing connections; zeros where it does not tell."""
    try:
        with open("/proc/sys/net/ipv4/ip_local_port_range", encoding="ascii") as file:
            first, last = file.read().split()
        return int(first), int(last)
    except (OSError, ValueError):
        return 0, 0


def states(sockets: Sequence[Socket]) -> dict[str, int]:
    """How many sockets are in each state."""
    counts: dict[str, int] = {}
    for one in sockets:
        counts[one.state] = counts.get(one.state, 0) + 1
    return counts


def holder_json(holder: Holder) -> dict[str, object]:
    """A process as `--json` gives it; `since` is Unix time."""
    return {
        "pid": holder.pid,
        "name": holder.name,
        "command": holder.command,
        "user": holder.user,
        "since": round(holder.since, 2),
        "parent": holder.parent,
        "state": holder.state,
        "unit": holder.unit,
        "container": holder.container,
        "leftover": holder.leftover,
    }

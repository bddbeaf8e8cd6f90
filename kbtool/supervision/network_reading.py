"""What a job's network means, in sentences: unreachable listeners, unanswered attempts, peers that do not read, names that do not resolve."""

from __future__ import annotations

from collections.abc import Iterator

from kbtool.quantities import plural, size
from kbtool.supervision.network import NetworkUse, Owned
from kbtool.supervision.port_reading import LOOPBACK
from kbtool.supervision.readings import Reading
from kbtool.supervision.sockets import address

SHOWN = 6
"""Addresses named in one sentence."""


def read_network(use: NetworkUse) -> list[Reading]:
    """The findings, what is wrong before what is only worth knowing."""
    return [*_attempts(use), *_names(use), *_failures(use), *_listeners(use), *_connections(use), *_limits(use)]


def _attempts(use: NetworkUse) -> Iterator[Reading]:
    for one in use.attempts:
        tries = f", asked {one.socket.retries + 1} times" if one.socket.retries else ""
        yield Reading(
            "unanswered",
            f"{_who(one)} waits for {address(one.socket.remote)} to answer (SYN_SENT{tries}): nothing comes back, as from a wrong address, a firewall, or a host that is down",
        )


def _names(use: NetworkUse) -> Iterator[Reading]:
    for server in use.asked_names:
        yield Reading("name query", f"a name is being asked for at {server} (DNS): until it answers, whoever asked waits")


def _failures(use: NetworkUse) -> Iterator[Reading]:
    if use.failed_attempts:
        yield Reading(
            "refused",
            f"{plural(use.failed_attempts, 'attempt')} to connect failed meanwhile, of this or another process on the same network (refused, or given up); "
            "`--trace` names the address",
        )


def _listeners(use: NetworkUse) -> Iterator[Reading]:
    local = [address(one.socket.local) for one in use.listening() if one.socket.local[0].startswith(LOOPBACK)]
    if local:
        yield Reading("local only", f"only this machine reaches {', '.join(local[:SHOWN])}: from another one, or through a published container port, it is refused")
    for one in use.listening():
        if one.socket.unread:
            yield Reading("not accepting", f"port {one.socket.local[1]}: {plural(one.socket.unread, 'connection')} not accepted yet: the program is busy or blocked")
    for silent in use.bound:
        yield Reading("never listened", f"PID {silent.pid} has bound {address(silent.local)} and never called `listen`: connections to it are refused")


def _connections(use: NetworkUse) -> Iterator[Reading]:
    for one in use.connected():
        place = address(one.socket.remote)
        if one.socket.state == "CLOSE_WAIT":
            yield Reading("close wait", f"{place} has closed, and {_who(one)} has not noticed (CLOSE_WAIT)")
        elif one.socket.unsent and one.socket.retries:
            yield Reading("lost peer", f"{size(one.socket.unsent)} for {place} sent again and again without an answer: the peer is gone or the path is cut")
        elif one.socket.unsent:
            yield Reading("peer does not read", f"{size(one.socket.unsent)} for {place} not taken yet: the peer does not read{_named(use, one)}")
        elif one.socket.unread:
            yield Reading("does not read", f"{size(one.socket.unread)} from {place} have arrived and {_who(one)} does not read them")


def _limits(use: NetworkUse) -> Iterator[Reading]:
    if use.hidden:
        yield Reading("hidden", f"the sockets of {plural(len(use.hidden), 'child process', 'child processes')} are not shown to this user: ask again with sudo")
    if not use.used:
        local = f" ({plural(use.unix, 'local socket')} apart)" if use.unix else ""
        yield Reading("no network", f"it has no network socket at all{local}: it neither listens nor is connected nor tries to be")


def _who(one: Owned) -> str:
    return f"PID {one.pids[0]}" if len(one.pids) == 1 else f"PIDs {', '.join(map(str, one.pids[:4]))}"


def _named(use: NetworkUse, one: Owned) -> str:
    peer = use.peers.get(one.socket.remote)
    return f" (it is PID {peer.pid}, {peer.name})" if peer else ""

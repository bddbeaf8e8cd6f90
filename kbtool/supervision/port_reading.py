"""What the use of a port means, in sentences, and the one command that frees it."""

from __future__ import annotations

import errno
import os
import socket
from collections.abc import Iterator

from kbtool.quantities import duration, plural
from kbtool.supervision.holders import Holder
from kbtool.supervision.ports import ANY_ADDRESS, PortUse, states
from kbtool.supervision.readings import Reading
from kbtool.supervision.sockets import address

LOOPBACK = ("127.", "::1")

PROXIES: dict[str, tuple[str, str]] = {
    "docker-proxy": ("Docker publishes a container's port here", "docker stop $(docker ps -q --filter publish={port})"),
    "rootlessport": ("Podman publishes a container's port here", "podman stop $(podman ps -q --filter publish={port})"),
    "conmon": ("Podman publishes a container's port here", "podman stop $(podman ps -q --filter publish={port})"),
    "rootlesskit": ("rootless Docker publishes a container's port here", "docker stop $(docker ps -q --filter publish={port})"),
    "pasta": ("a rootless container's port is published here", "podman stop $(podman ps -q --filter publish={port})"),
    "slirp4netns": ("a rootless container's port is published here", "podman stop $(podman ps -q --filter publish={port})"),
    "kubectl": ("`kubectl port-forward` holds it for a pod", "kill {pid}"),
    "ssh": ("an ssh tunnel (-L or -D) holds it", "kill {pid}"),
    "sshd": ("somebody who is logged in here has opened an ssh tunnel back (-R)", "kill {pid}"),
}
"""Programs that listen for somebody else, by name: what that means, and how the port is freed."""


def read_port(use: PortUse) -> list[Reading]:
    """The findings, the one that explains most first."""
    return [*_who(use), *_addresses(use), *_condition(use), *_other_uses(use), *_nobody(use)]


def freeing_command(use: PortUse) -> str | None:
    """The one command that frees the port; None when nobody holds it or who does is not known."""
    holder = _chief(use)
    if holder is None:
        return None
    if holder.name in PROXIES:
        return PROXIES[holder.name][1].format(port=use.port, pid=holder.pid)
    if holder.container is not None:
        return f"docker stop {holder.container}"
    sudo = "" if holder.mine or os.geteuid() == 0 else "sudo "
    if holder.unit is not None:
        return f"{'' if holder.unit.startswith('--user') or os.geteuid() == 0 else 'sudo '}systemctl {_stop(holder.unit)}"
    if holder.pid == 1:
        return f"docker stop {socket.gethostname()}"
    if holder.state in "Tt":
        return f"{sudo}kill {holder.pid}; {sudo}kill -CONT {holder.pid}"
    return f"{sudo}kill {holder.pid}"


def _stop(unit: str) -> str:
    return f"--user stop {unit.removeprefix('--user ')}" if unit.startswith("--user") else f"stop {unit}"


def _chief(use: PortUse) -> Holder | None:
    """Of several processes that share a socket, the one whose parent does not: ending a worker only makes its master start another."""
    pids = {holder.pid for holder in use.holders}
    return next((holder for holder in use.holders if holder.parent not in pids), None)


def _who(use: PortUse) -> Iterator[Reading]:
    for holder in use.holders:
        if holder.name in PROXIES:
            yield Reading("proxy", f"PID {holder.pid} ({holder.name}) stands in for another: {PROXIES[holder.name][0]}")
        elif holder.pid == 1:
            yield Reading("container", "PID 1 of this container holds it: it is the container's own service; ending it ends the container")
        elif holder.container is not None:
            yield Reading("container", f"PID {holder.pid} runs in the container {holder.container}, which uses this machine's network")
        elif holder.unit is not None:
            yield Reading("service", f"PID {holder.pid} belongs to the service `{holder.unit}`, which would be started again after a `kill`")
        elif holder.leftover:
            yield Reading("leftover", f"PID {holder.pid} is a leftover: it runs for {duration(holder.age())}, and whoever started it has ended{'' if holder.session_alive else ', terminal and all'}")
        elif holder.orphaned and holder.session == holder.pid:
            yield Reading("orphan", f"PID {holder.pid} was left by whoever started it: a daemon, or a leftover of a job that was killed")


def _addresses(use: PortUse) -> Iterator[Reading]:
    places = [one.address for one in use.listening]
    if places and all(place.startswith(LOOPBACK) for place in places):
        yield Reading(
            "local only",
            f"it listens on {', '.join(places)} only: from another machine, or through a published container port, connections are refused; "
            "let the server bind 0.0.0.0",
        )
    elif places and not any(place in ANY_ADDRESS or place.startswith(LOOPBACK) for place in places):
        yield Reading("one address", f"it listens on {', '.join(places)} only: connections to localhost are refused")
    groups = {frozenset(holder.pid for holder in one.holders) for one in use.listening if one.holders}
    if len(groups) > 1:
        yield Reading("several", f"{len(groups)} programs listen on it, on different addresses or with SO_REUSEPORT: which one answers depends on the address")
    if use.bound:
        yield Reading("never listened", "it is bound, but `listen` was never called: every connection is refused, and nobody else can have the port")


def _condition(use: PortUse) -> Iterator[Reading]:
    for holder in use.holders:
        if holder.state in "Tt":
            yield Reading("stopped", f"PID {holder.pid} is stopped (Ctrl-Z, or a debugger): it holds the port and answers nobody; `fg` or `kill -CONT {holder.pid}` wakes it")
    waiting = sum(one.waiting for one in use.listening)
    if waiting:
        yield Reading("not accepting", f"{plural(waiting, 'connection')} not accepted yet: the program is busy or blocked (blocking work in an async route?)")
    unknown = [one.address for one in use.listening if not one.holders]
    if unknown:
        why = "a process of another container or of another user (ptrace is not allowed here), or the kernel itself" if os.geteuid() == 0 else "another user's process: ask again with sudo"
        yield Reading("unknown holder", f"who listens on {', '.join(unknown)} can not be seen: {why}")


def _other_uses(use: PortUse) -> Iterator[Reading]:
    resting = [one for one in use.connections if one.state == "TIME_WAIT"]
    if resting and not use.listening:
        longest = max(one.timer for one in resting)
        yield Reading(
            "time wait",
            f"no process holds it: {plural(len(resting), 'closed connection')} in TIME_WAIT for {duration(longest)} more; "
            "a server with SO_REUSEADDR may bind it at once, another has to wait",
        )
    if not use.listening:
        for one in use.connections:
            for holder in use.owners.get(one.inode, ()):
                yield Reading("outgoing", f"PID {holder.pid} ({holder.name}) uses it for its own connection to {address(one.remote)} ({one.state})")
    closing = sum(count for state, count in states(use.connections).items() if state == "CLOSE_WAIT")
    if closing:
        yield Reading("close wait", f"{plural(closing, 'connection')} in CLOSE_WAIT: the peer has closed and the program has not noticed")


def _nobody(use: PortUse) -> Iterator[Reading]:
    if use.refusal == errno.EADDRINUSE:
        yield Reading("hidden", "binding it fails (address already in use), yet no table shows who has it: a process of another user or container bound it and does not listen")
    elif use.refusal in (errno.EACCES, errno.EPERM):
        yield Reading("privileged", "nobody uses it, but binding it needs root: it is a port below 1024")
    elif not use.used:
        yield Reading("free", "nobody uses it: binding it worked just now")
    first, last = use.outgoing_range
    if first <= use.port <= last and not use.listening:
        yield Reading("outgoing range", f"it lies among the ports {first} to {last} that outgoing connections take at random: choose one below for a server or MASTER_PORT")

"""Who stands behind a process number: command, user, since when, who started it, and which service or container it belongs to."""

from __future__ import annotations

import contextlib
import functools
import os
import re
import time
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from kbtool.supervision.processes import command_line, read_stat

_TICKS = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100

REAPERS = ("systemd", "init", "tini", "dumb-init", "docker-init", "catatonit", "s6-svscan", "runit", "containerd-shim", "conmon")
"""Programs that become the parent of processes whose own parent has ended."""

_UNIT = re.compile(r"/(?P<unit>[^/]+\.service)(?:/|$)")
_USER_MANAGER = re.compile(r"/user@\d+\.service(?=/)")
_CONTAINER = re.compile(r"(?:docker|libpod|crio|cri-containerd)[-/](?:[\w-]*?)(?P<id>[0-9a-f]{64})")


@dataclass(frozen=True)
class Holder:
    """A process as a person wants to see it named."""

    pid: int
    name: str
    command: str
    user: str
    mine: bool
    """True when it belongs to the user who asks."""
    since: float
    """Unix time of its start."""
    parent: int
    parent_name: str
    state: str
    session: int
    session_alive: bool
    """False when the process that opened its session, usually a login shell, has ended."""
    unit: str | None = None
    """The systemd service that it belongs to; ``--user`` services carry that word in front."""
    container: str | None = None
    """First twelve digits of the id of the container it runs in, seen from the host."""

    @property
    def orphaned(self) -> bool:
        """True when whoever started it has ended."""
        return self.pid != 1 and (self.parent == 1 or self.parent_name.startswith(REAPERS))

    @property
    def leftover(self) -> bool:
        """True for an orphan that is no service and no daemon of its own session: the job or shell that started it is gone, and it stayed."""
        return self.orphaned and self.unit is None and self.container is None and self.session not in (self.pid, 1)

    def age(self) -> float:
        """Seconds that it has been running."""
        return max(time.time() - self.since, 0.0)


def describe(pid: int) -> Holder | None:
    """What is known of a process; None when it has gone."""
    try:
        name, fields = read_stat(f"/proc/{pid}/stat")
        uid = os.stat(f"/proc/{pid}").st_uid
    except (OSError, ValueError):
        return None
    parent, session = int(fields[1]), int(fields[3])
    unit, container = _belongs_to(pid)
    return Holder(
        pid=pid,
        name=name,
        command=" ".join(command_line(pid)) or f"[{name}]",
        user=_user_name(uid),
        mine=uid == os.geteuid(),
        since=_boot_time() + int(fields[19]) / _TICKS,
        parent=parent,
        parent_name=_name_of(parent),
        state=fields[0],
        session=session,
        session_alive=session == pid or os.path.exists(f"/proc/{session}"),
        unit=unit,
        container=container,
    )


def holders_of(inodes: Collection[str]) -> dict[str, list[int]]:
    """The processes that have a socket or pipe open, by its inode, lowest number first. Processes of others need root."""
    wanted = {f"socket:[{inode}]": inode for inode in inodes} | {f"pipe:[{inode}]": inode for inode in inodes}
    found: dict[str, list[int]] = {}
    for pid in processes() if wanted else ():
        for inode in {wanted[link] for _, link in descriptors(pid) if link in wanted}:
            found.setdefault(inode, []).append(pid)
    return found


def processes() -> list[int]:
    """All process numbers of this machine or container, ascending."""
    return sorted(int(name) for name in os.listdir("/proc") if name.isdigit())


def descriptors(pid: int) -> Iterator[tuple[int, str]]:
    """The open descriptors of a process and what they lead to; nothing where that may not be seen."""
    with contextlib.suppress(OSError):
        for name in os.listdir(f"/proc/{pid}/fd"):
            with contextlib.suppress(OSError):
                yield int(name), os.readlink(f"/proc/{pid}/fd/{name}")


def socket_inodes(pid: int) -> dict[str, int]:
    """The sockets of a process: inode and descriptor."""
    return {link[len("socket:[") : -1]: number for number, link in descriptors(pid) if link.startswith("socket:[")}


def may_see_descriptors(pid: int) -> bool:
    """True when this user may see what the process has open; root without ptrace may list descriptors and not follow them."""
    try:
        for name in os.listdir(f"/proc/{pid}/fd"):
            os.readlink(f"/proc/{pid}/fd/{name}")
            break
    except PermissionError:
        return False
    except OSError:
        return True  # it has just closed that one, or ended
    return True


def _name_of(pid: int) -> str:
    with contextlib.suppress(OSError, ValueError):
        return read_stat(f"/proc/{pid}/stat")[0]
    return "?"


def _user_name(uid: int) -> str:
    try:
        import pwd

        return pwd.getpwuid(uid).pw_name
    except (ImportError, KeyError):
        return str(uid)


@functools.cache
def _boot_time() -> float:
    with contextlib.suppress(OSError), open("/proc/stat", "rb") as file:
        for line in file:
            if line.startswith(b"btime"):
                return float(line.split()[1])
    return time.time() - time.monotonic()


def _belongs_to(pid: int) -> tuple[str | None, str | None]:
    """The service and the container that the control group names."""
    try:
        with open(f"/proc/{pid}/cgroup", encoding="utf-8", errors="replace") as file:
            text = file.read()
    except OSError:
        return None, None
    return parse_control_group(text)


def parse_control_group(text: str) -> tuple[str | None, str | None]:
    """Service and container in the text of a /proc/PID/cgroup file; None where there is none."""
    if container := _CONTAINER.search(text):
        return None, container["id"][:12]
    own, managers = _USER_MANAGER.subn("", text)
    unit = _UNIT.search(own)
    if unit is None:
        return None, None
    return f"--user {unit['unit']}" if managers else unit["unit"], None

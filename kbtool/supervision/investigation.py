"""What is found out when the signs say that nothing moves: stacks, waits, the import in progress, and the sentences that follow."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from kbtool.supervision import verdict
from kbtool.supervision.explain import explain
from kbtool.supervision.family import Family
from kbtool.supervision.heartbeat import Heartbeat
from kbtool.supervision.holders import socket_inodes
from kbtool.supervision.output import Output
from kbtool.supervision.processes import command_line, read_stat
from kbtool.supervision.report import Stall, who
from kbtool.supervision.signs import Signs
from kbtool.supervision.sockets import tcp_sockets
from kbtool.supervision.stacks import Capture, StackGroup, capture, group, telling_frame
from kbtool.supervision.startup_record import Failure, Importing, ProcessRecord, StartupRecords
from kbtool.supervision.verdict import StallClass
from kbtool.supervision.waits import Wait, wait_of, wait_when_still

SUSPECTS = 5
_SERVING = ("events", "requests")
"""What the main thread of an idle server waits for."""

LAST_LINES, LAST_BYTES = 8, 4096
PROCESSES_LOOKED_AT = 32
"""Stacks are taken of at most so many processes; a job of more is told by these."""


@dataclass(frozen=True)
class Scene:
    """The job as the watch sees it at this moment."""

    family: Family
    records: StartupRecords | None
    signs: Signs
    output: Output
    heartbeat: Heartbeat
    reads_terminal: bool = False

    @property
    def by_pid(self) -> Mapping[int, ProcessRecord]:
        return self.records.by_pid if self.records is not None else {}


def investigate(scene: Scene, seconds: float, kind: StallClass | None) -> Stall | None:
    """The stall as it is told; None when the job waits for a person at kb's own terminal, or is a server that nobody asks anything.

    `kind` is given where the watch has decided it already (spinning); otherwise stacks and waits say it.
    """
    pids = scene.family.members()[:PROCESSES_LOOKED_AT]
    waits = {pid: wait_of(pid) if kind else wait_when_still(pid) for pid in pids}
    if kind is None and scene.reads_terminal and any(_waits_for_person(wait) for wait in waits.values()):
        return None
    seen = capture(pids, scene.by_pid, scene.family)
    parents = {parent for pid in pids if (parent := _parent_of(pid)) in pids}
    groups = group(seen.stacks, {pid: record.rank for pid, record in scene.by_pid.items()}, parents, verdict.in_collective)
    kind = kind or verdict.classify_still(seen.stacks, waits)
    if kind is StallClass.WAITING and any(wait.kind in _SERVING and _listens(pid) for pid, wait in waits.items()):
        return None
    importing = _importing(scene, pids)
    suspects = tuple(_suspects(scene, importing)[:SUSPECTS])
    evidence = _evidence(scene, seconds, waits, groups, kind, importing, suspects)
    stall = Stall(kind, seconds, evidence, tuple(groups), importing, suspects, _notes(seen), _last_lines(scene.output))
    return replace(stall, answer=explain(stall.question()))


def _parent_of(pid: int) -> int | None:
    with contextlib.suppress(OSError, ValueError, IndexError):
        return int(read_stat(f"/proc/{pid}/stat")[1][1])
    return None


def _listens(pid: int) -> bool:
    own = socket_inodes(pid)
    return any(socket.state == "LISTEN" and socket.inode in own for socket in tcp_sockets(pid))


def _last_lines(output: Output) -> tuple[str, ...]:
    text = output.kept()[-LAST_BYTES:].decode("utf-8", "replace")
    return tuple(line for line in text.splitlines() if line.strip())[-LAST_LINES:]


def _waits_for_person(wait: Wait) -> bool:
    return wait.kind == "stdin" and wait.path is not None and wait.path.startswith(("/dev/pts", "/dev/tty"))


def _importing(scene: Scene, pids: Sequence[int]) -> Importing | None:
    """The import that goes on in one of the living processes, the youngest process first."""
    for pid in reversed(pids):
        record = scene.by_pid.get(pid)
        importing = record.in_progress() if record else None
        if importing is not None:
            return importing
    return None


def _suspects(scene: Scene, importing: Importing | None) -> list[Failure]:
    """Exceptions that imports raised; those inside of the import that goes on come first."""
    if scene.records is None:
        return []
    chain = set(importing.chain) if importing else set()
    roots = {module.partition(".")[0] for module in chain}
    return sorted(scene.records.failures(), key=lambda one: (one.module.partition(".")[0] not in roots, -one.seconds))


def _evidence(
    scene: Scene,
    seconds: float,
    waits: Mapping[int, Wait],
    groups: Sequence[StackGroup],
    kind: StallClass,
    importing: Importing | None,
    suspects: Sequence[Failure],
) -> tuple[str, ...]:
    told = [_signs(scene, seconds)]
    if importing is not None:
        told.append(
            f"the import of `{importing.module}` has been going on for {time.time() - importing.since:.0f} s ({' > '.join(importing.chain)})"
        )
    told += [describe_failure(failure) for failure in suspects]
    told += _odd_one(groups)
    told += _waiting(waits, kind)
    if scene.heartbeat.values:
        told.append("last metrics: " + ", ".join(f"{name} {value:g}" for name, value in scene.heartbeat.values.items()))
    return tuple(told)


def _signs(scene: Scene, seconds: float) -> str:
    rates = scene.signs.rates
    gpu = "no GPU seen" if rates.gpu is None else f"GPU {rates.gpu:.0f} %"
    since = "no output at all" if scene.output.last_at is None else "no output"
    return f"{since} for {seconds:.0f} s, CPU {rates.cpu:.2f} cores, {rates.written + rates.storage:.0f} B/s written, {gpu}"


def describe_failure(failure: Failure) -> str:
    """One sentence about an exception that an import raised: what, where, how far it went, what it names."""
    named = f"; it names {', '.join(f'`{name}`' for name in failure.names)}" if failure.names else ""
    passed = f", passed through {', '.join(f'`{module}`' for module in failure.modules[1:])}" if failure.modules[1:] else ""
    by = f" and was caught by whoever imported that at {failure.imported_by}" if failure.imported_by else ""
    return f"importing `{failure.module}` raised {failure.type}: {failure.text} at {failure.at}{passed}{by}{named}"


def _odd_one(groups: Sequence[StackGroup]) -> list[str]:
    mains = [one for one in groups if one.main]
    if not mains:
        return []
    frame = telling_frame(mains[0].frames)
    others = sum(len(one.members) for one in mains[1:])
    rest = f", {others} others stand elsewhere" if others else ""
    return [f"{who(mains[0])} stands in {frame}{rest}"]


def _waiting(waits: Mapping[int, Wait], kind: StallClass) -> list[str]:
    """What main threads wait for; the kernel's words say little about a process that was found spinning."""
    if kind is StallClass.SPINNING:
        return []
    told = []
    for pid, wait in list(waits.items())[:6]:
        name = (command_line(pid) or ["?"])[0].rsplit("/", 1)[-1]
        told.append(
            f"PID {pid} ({name}) waits for {wait.words}"
            if wait.kind not in ("stopped", "running", "unknown")
            else f"PID {pid} ({name}): {wait.words}"
        )
    return told


def _notes(seen: Capture) -> tuple[str, ...]:
    return tuple(dict.fromkeys(seen.notes))[:4]

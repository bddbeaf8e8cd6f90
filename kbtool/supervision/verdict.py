"""Which kind of stall it is: read from the stacks and from what the threads wait for. Tables, not cases."""

from __future__ import annotations

import ast
import functools
import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

from kbtool.supervision.stacks import Frame, ThreadStack
from kbtool.supervision.waits import Wait


class StallClass(str, Enum):
    """The classes of a stall; reports carry these words."""

    WAITING = "waiting"
    SPINNING = "spinning"
    COLLECTIVE = "collective"
    LOADER = "loader"
    LOCK = "lock"
    STOPPED = "stopped"
    ALIVE = "alive"


FRAME_SIGNS: tuple[tuple[StallClass, tuple[str, ...], tuple[str, ...]], ...] = (
    (
        StallClass.LOCK,
        ("filelock/", "portalocker/", "fasteners/", "file_baton.py", "soft_file_lock", "zc/lockfile"),
        ("acquire", "wait", "__enter__", "lock", "_acquire", "read_lock", "write_lock"),
    ),
    (
        StallClass.COLLECTIVE,
        (
            "torch/distributed/",
            "torch/nn/parallel/distributed.py",
            "mpi4py/",
            "horovod/",
            "deepspeed/comm",
            "/gloo/",
            "jax/experimental/multihost",
        ),
        (),
    ),
    (
        StallClass.LOADER,
        ("torch/utils/data/dataloader.py", "tensorflow/python/data/", "webdataset/", "nvidia/dali/", "ffcv/loader"),
        (),
    ),
)
"""A class, parts of file names, and the functions that count in them (none: all). The first row that fits the stack decides."""

SPIN_LOOKS = 4
"""Stacks that must agree before a busy, silent job is said to spin."""

BusyThreads = Mapping[tuple[int, str], tuple[Frame, ...]]
"""By process and thread: a busy thread's frames, innermost first, at one look."""

LOOP_LINES = 12
"""A loop that spins is short; longer ones are where training happens."""

FRAME_DEPTH = 12
"""Frames from the innermost that can tell what a thread waits for."""


def classify_still(stacks: Iterable[ThreadStack], waits: Mapping[int, Wait]) -> StallClass:
    """The class of a job in which nothing moves; `waits` says of each process what its main thread waits for."""
    kinds = [wait.kind for wait in waits.values()]
    if "stopped" in kinds:
        return StallClass.STOPPED
    if "file lock" in kinds:
        return StallClass.LOCK
    return class_of_stacks(stacks) or StallClass.WAITING


def class_of_stacks(stacks: Iterable[ThreadStack]) -> StallClass | None:
    """What the main threads' frames say, the rarest class first; None when they say nothing special."""
    found = {sign for stack in stacks if stack.main and (sign := class_of_frames(stack.frames))}
    return next((row[0] for row in FRAME_SIGNS if row[0] in found), None)


def class_of_frames(frames: Sequence[Frame]) -> StallClass | None:
    """The class that the innermost frames name; None for ordinary code."""
    for frame in frames[:FRAME_DEPTH]:
        for sign, files, functions in FRAME_SIGNS:
            if any(part in frame.file for part in files) and (not functions or frame.function in functions):
                return sign
    return None


def in_collective(frames: Sequence[Frame]) -> bool:
    """True for a stack that waits for its peers in a collective."""
    return class_of_frames(frames) is StallClass.COLLECTIVE


@dataclass(frozen=True)
class Repetition:
    """How one thread's stack looked over several looks."""

    same_function: bool
    same_line: bool
    in_loop: bool
    """All innermost positions lie in one `while` loop of the source."""


def repetition(looks: Sequence[Sequence[Frame]]) -> Repetition:
    """Compare the stacks of one thread, each innermost first."""
    shapes = {tuple((frame.function, frame.file) for frame in look) for look in looks}
    same_function = len(shapes) == 1 and bool(looks[0])
    innermost = [look[0] for look in looks if look]
    outer = {tuple(look[1:]) for look in looks}
    same_line = same_function and len(outer) == 1 and len({frame.line for frame in innermost}) == 1
    loops = {loop_around(frame.file, frame.line) for frame in innermost}
    in_loop = same_function and len(outer) == 1 and len(loops) == 1 and None not in loops
    return Repetition(same_function, same_line, in_loop)


def busy_threads(stacks: Iterable[ThreadStack], busy_in_main: Collection[int]) -> BusyThreads:
    """The threads that may be what keeps a job busy: of a process whose main thread is busy, that one only."""
    return {(one.pid, one.thread): one.frames for one in stacks if one.main or one.pid not in busy_in_main}


def class_of_busy(looks: Sequence[BusyThreads], *, one_call_too: bool = False) -> StallClass | None:
    """The class of a busy job whose threads are at the same few lines at every look: spinning, or polling for a peer in a collective.

    `one_call_too`: a single call that never leaves its line counts as spinning.
    """
    if not all(looks):
        return None
    threads = set.intersection(*(set(look) for look in looks))
    repeated = [repetition([look[thread] for look in looks]) for thread in threads]
    if not repeated or not all(one.same_function for one in repeated):
        return None
    if any(in_collective(looks[-1][thread]) for thread in threads):
        return StallClass.COLLECTIVE
    if all(one.in_loop for one in repeated) or (one_call_too and all(one.same_line for one in repeated)):
        return StallClass.SPINNING
    return None


@functools.lru_cache(maxsize=64)
def loop_around(file: str, line: int) -> tuple[int, int] | None:
    """First and last line of the innermost short `while` loop around a line of a source file; None when there is none or it can not be read."""
    loops = [loop for loop in _loops_of(file) if loop[0] <= line <= loop[1] and loop[1] - loop[0] <= LOOP_LINES]
    return max(loops, default=None)


@functools.lru_cache(maxsize=16)
def _loops_of(file: str) -> tuple[tuple[int, int], ...]:
    try:
        if os.stat(file).st_size > 2 << 20:
            return ()
        with open(file, "rb") as source:
            tree = ast.parse(source.read())
    except (OSError, SyntaxError, ValueError, RecursionError):
        return ()
    return tuple((node.lineno, node.end_lineno or node.lineno) for node in ast.walk(tree) if isinstance(node, ast.While))

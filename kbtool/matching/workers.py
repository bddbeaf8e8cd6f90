"""Many files are read by several processes, and come back in the order they were asked for.

A worker is this Python, started anew and isolated: neither the user's main module nor a module of the current folder is run in it, and no
thread is forked. It reads chunks of names from its stdin, answers each on its stdout, and ends when its stdin does, so with its parent at the
latest. Whatever keeps a worker from answering, its chunk is read here: workers save time, no result depends on them.
"""

from __future__ import annotations

import contextlib
import gc
import json
import marshal
import os
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Generator, Iterator, Sequence
from pathlib import Path
from typing import IO, Any

from kbtool.matching.extract import Numbered, Part, read_part

MOST_WORKERS = 8
"""What merges the answers keeps up with no more."""
_LENGTH = 4
"""Bytes before a message that give its length."""

_START = "import json, sys; sys.path[:] = json.loads(sys.argv[1]); from kbtool.matching.workers import serve; serve(sys.argv[2])"

Chunk = Sequence[Numbered]


def processors() -> int:
    """Processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def parts(root: Path, chunks: Sequence[Chunk]) -> Generator[Part, None, None]:
    """What every chunk of files becomes, in the order of `chunks`."""
    with _answers(root, chunks) as (answers, running):
        received: dict[int, Part | None] = {}
        for at, chunk in enumerate(chunks):
            while at not in received and running:
                place, answer = answers.get()
                if place is None:
                    running -= 1
                else:
                    received[place] = answer
            yield received.pop(at, None) or read_part(root, chunk)


Answers = queue.SimpleQueue[tuple["int | None", "Part | None"]]
"""A chunk's place and what it becomes, or None where its worker was lost; no place when a worker has nothing more to do."""


@contextlib.contextmanager
def _answers(root: Path, chunks: Sequence[Chunk]) -> Iterator[tuple[Answers, int]]:
    """Workers at work on the chunks: where their answers arrive, and how many workers there are. None of them outlives the block."""
    asked: queue.SimpleQueue[tuple[int, Chunk]] = queue.SimpleQueue()
    for item in enumerate(chunks):
        asked.put(item)
    answers: Answers = queue.SimpleQueue()
    workers: list[subprocess.Popen[bytes]] = []
    threads: list[threading.Thread] = []
    try:
        for _ in range(min(processors(), MOST_WORKERS, len(chunks))):
            worker = _start(root)
            if worker is None:
                break
            workers.append(worker)
            threads.append(threading.Thread(target=_ask, args=(worker, asked, answers), daemon=True))
            threads[-1].start()
        yield answers, len(threads)
    finally:
        for worker in workers:
            worker.kill()
        for thread in threads:
            thread.join()
        for worker in workers:
            with contextlib.suppress(OSError), worker:  # closes the pipes and waits
                pass


def _start(root: Path) -> subprocess.Popen[bytes] | None:
    options = ["-I", "-S", *(["-B"] if sys.dont_write_bytecode else [])]
    if sys.pycache_prefix:
        options += ["-X", f"pycache_prefix={sys.pycache_prefix}"]
    command = [sys.executable, *options, "-c", _START, json.dumps(import_folders()), str(root)]
    try:
        return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    except (OSError, ValueError, TypeError):  # TypeError: embedded Pythons need not know their own program
        return None


def import_folders() -> list[str]:
    """Where a worker finds modules: kb's own folder, and those of this process without the current one."""
    home = str(Path(__file__).resolve().parents[2])
    here = os.path.realpath(os.curdir)
    return [home, *(folder for folder in sys.path if folder and os.path.realpath(folder) not in (here, home))]


def _ask(worker: subprocess.Popen[bytes], asked: queue.SimpleQueue[tuple[int, Chunk]], answers: Answers) -> None:
    """Hand chunk after chunk to a worker, as long as there are some and it answers."""
    assert worker.stdin is not None and worker.stdout is not None
    with contextlib.suppress(queue.Empty):
        lost = False
        while not lost:
            place, chunk = asked.get_nowait()
            answer: Part | None = None
            with contextlib.suppress(OSError, ValueError, TypeError, EOFError):
                _send(worker.stdin, list(chunk))
                answer = _checked(_receive(worker.stdout), len(chunk))
            answers.put((place, answer))
            lost = answer is None
    answers.put((None, None))


def _checked(values: Any, count: int) -> Part:
    part = Part(*values)
    if len(part.problems) != count:
        raise ValueError("an answer to something else")
    return part


def _send(pipe: IO[bytes], message: Any) -> None:
    data = marshal.dumps(message)
    pipe.write(len(data).to_bytes(_LENGTH, "big") + data)
    pipe.flush()


def _receive(pipe: IO[bytes]) -> Any:
    """The next message; raises EOFError, ValueError or TypeError where there is none, or half of one."""
    length = int.from_bytes(pipe.read(_LENGTH), "big")
    return marshal.loads(pipe.read(length))


def serve(root: str) -> None:
    """The worker: answer every chunk on stdin until it ends."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # Ctrl-C at the terminal reaches workers too: they end without a word
    gc.disable()  # what becomes of a file holds no cycles
    folder = Path(root)
    with contextlib.suppress(EOFError, OSError):
        while True:
            _send(sys.stdout.buffer, tuple(read_part(folder, _receive(sys.stdin.buffer))))
    os._exit(0)

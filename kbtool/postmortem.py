"""python -m kbtool.postmortem [--with NAME=EXPRESSION]… train.py ARGUMENT…: a program that explains its own failure.

The program runs as `python train.py` would run it: same `__main__`, same arguments, same traceback, same exit status. Only after its
own traceback was printed, an uncaught exception is matched, and the allowed `python` checks of the best candidates are evaluated in
the frames that failed, while their values are still alive. Whatever goes wrong in here costs one line and changes nothing.
"""

from __future__ import annotations

import builtins
import io
import os
import runpy
import sys
import traceback
import types
from collections.abc import Callable
from types import TracebackType
from typing import Any

Hook = Callable[[type[BaseException], BaseException, TracebackType | None], Any]

USAGE = "usage: python -m kbtool.postmortem [--with NAME=EXPRESSION]... (FILE | -m MODULE) [ARGUMENT]..."

CANDIDATES = 3
"""Best candidates whose checks are evaluated."""

LIKELY = 0.1
"""Estimated probability from which on a second or third candidate is looked at."""

CONFIRMED = "  confirmed: "
"""Begins what is said of a candidate whose check found the fault; no other one is looked at then."""

OWN_FILES = (__file__, runpy.__file__, "<frozen runpy>")


def main(arguments: list[str]) -> None:
    """Run the program that `arguments` name and explain what it dies of."""
    mapping = _take_mapping(arguments)
    if not arguments or arguments[0].startswith("-") and arguments[0] != "-m" or arguments == ["-m"]:
        sys.stderr.write(USAGE + "\n")
        sys.exit(2)
    try:
        _run(arguments)
    except SystemExit:
        raise
    except BaseException as error:
        error.__traceback__ = _without_own_frames(error.__traceback__)
        sys.excepthook = _explaining(sys.excepthook, mapping)
        raise


def _take_mapping(arguments: list[str]) -> dict[str, str]:
    mapping = {}
    while arguments and arguments[0] == "--with":
        name, _, expression = arguments[1].partition("=") if len(arguments) > 1 else ("", "", "")
        mapping[name] = expression
        del arguments[:2]
    return mapping


def _run(arguments: list[str]) -> None:
    if arguments[0] == "-m":
        sys.argv = arguments[1:]
        sys.path[0] = os.getcwd()
        runpy.run_module(arguments[1], run_name="__main__", alter_sys=True)
        return
    path = os.path.abspath(arguments[0])
    sys.argv = arguments
    sys.path[0] = os.path.dirname(path)
    program = types.ModuleType("__main__")
    program.__dict__.update(__file__=path, __builtins__=builtins, __cached__=None)
    with io.open_code(path) as file:
        code = compile(file.read(), path, "exec")
    sys.modules["__main__"] = program  # as with `python train.py`: pickle and multiprocessing look there
    exec(code, program.__dict__)


def _without_own_frames(frames: TracebackType | None) -> TracebackType | None:
    """The traceback from the program's first frame on."""
    while frames is not None and frames.tb_frame.f_code.co_filename in OWN_FILES:
        frames = frames.tb_next
    return frames


def _explaining(hook: Hook, mapping: dict[str, str]) -> Hook:
    """The program's own exception hook, followed by the explanation."""

    def explain(kind: type[BaseException], error: BaseException, frames: TracebackType | None) -> None:
        frames = _without_own_frames(frames)
        hook(kind, error.with_traceback(frames), frames)
        if isinstance(error, KeyboardInterrupt):
            return
        try:
            lines = explanation(error, frames, mapping)
        except BaseException as own:  # the program's failure matters, not ours
            lines = [f"no explanation: {type(own).__name__}: {own}"]
        sys.stderr.write("".join(f"kb: {line}\n" for line in lines))
        sys.stderr.flush()

    return explain


def explanation(error: BaseException, frames: TracebackType | None, mapping: dict[str, str]) -> list[str]:
    """What is known about an uncaught exception, as lines for a person."""
    from kbtool.cli.render import safe_line
    from kbtool.knowledge.layers import find_layers
    from kbtool.matching.answer import answer_text
    from kbtool.matching.index import open_index

    text = "".join(traceback.format_exception(type(error), error, frames))
    bases = find_layers()
    answer = answer_text(text, open_index(bases))
    if not answer.matches:
        return ["nothing is known about this failure; `kb triage` leads on, `kb add` keeps what you find"]
    match_id = _remember(answer, bases)
    lines: list[str] = []
    for match in answer.matches[:CANDIDATES]:
        if lines and match.score < LIKELY:
            break
        lines.append(f"{match.id} ({match.confidence.value}): {match.title}")
        told = _look_lines(match.id, frames, mapping, bases, match_id)
        lines += told
        if told[0].startswith(CONFIRMED):
            break
    return [safe_line(line) for line in lines]


def _remember(answer: Any, bases: Any) -> int | None:
    from kbtool.journal.journal import open_journal
    from kbtool.journal.terminal import base_key, terminal_key

    with open_journal() as journal:
        return journal.remember_match(answer, base=base_key(base.root for base in bases), terminal=terminal_key(), source="postmortem")


def _look_lines(entry_id: str, frames: TracebackType | None, mapping: dict[str, str], bases: Any, match_id: int | None) -> list[str]:
    from kbtool.errors import KbError
    from kbtool.verification.record import load
    from kbtool.verification.values import look, record_look

    try:
        _, entry = load(entry_id, bases)
        found = look(entry, frames, mapping=mapping)
        if found is None:
            return [f"  `kb verify {entry_id}` runs its check"]
        record_look(found, bases, match_id=match_id)
    except KbError as problem:
        return [f"  {problem.message}", *([f"  {problem.hint}"] if problem.hint else [])]
    lines = [f"  {found.verdict.value}: {found.reason}"]
    if found.place is not None:
        lines.append(f"  in {found.place}: " + ", ".join(f"{name} is {value}" for name, value in found.values))
    if found.verdict.value == "confirmed" and entry.fix:
        lines.append("  fix: " + " ".join(entry.fix.split()))
    return lines


if __name__ == "__main__":
    main(sys.argv[1:])

"""`kb match`: a traceback or a log goes in, the known causes come out."""

from __future__ import annotations

import contextlib
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kbtool.cli.app import command_app
from kbtool.errors import ExitStatus, KbError

if TYPE_CHECKING:
    from collections.abc import Callable

    from kbtool.knowledge.layers import Base
    from kbtool.matching.answer import Scored
    from kbtool.matching.index import Index
    from kbtool.matching.ranks import RankLog
    from kbtool.matching.report import Report
    from kbtool.matching.stream import Reading
    from kbtool.model import Answer

app = command_app()

PROGRESS_FROM = 64 << 20
"""Bytes read before a progress line appears."""


@app.command(epilog="Example: python train.py 2>&1 | kb match")
def match(
    files: Annotated[list[str] | None, typer.Argument(metavar="[FILE]…", help="Logs, or folders of them; `-` or none: standard input.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON document (docs/json.md).")] = False,
    retired: Annotated[bool, typer.Option("--all", help="Also match retired entries.")] = False,
    explain: Annotated[bool, typer.Option("--explain", help="Say why: tokens, weights, what was masked, the runner-up and the margin.")] = False,
    check: Annotated[bool, typer.Option("--verify", help="Let the candidates' checks decide, here and now; asks first.")] = False,
    tee: Annotated[bool, typer.Option("--tee", help="Pass the input on to stdout while reading; the answer goes to stderr.")] = False,
) -> int:
    """Find the known causes of a failure in a log. Several files, or a folder, are the ranks of one job."""
    from kbtool.cli.render import tell
    from kbtool.knowledge.layers import find_layers
    from kbtool.matching.answer import answer_report
    from kbtool.matching.index import open_index
    from kbtool.matching.report import make_report

    begun = time.monotonic()
    bases = find_layers()
    paths = _paths(files or [])
    logs = [(str(path or "-"), reading, make_report(reading)) for path, reading in ((path, _read(path, tee)) for path in paths)]
    if not any(reading.size for _, reading, _ in logs):
        tell("kb: the input is empty")
    index = open_index(bases, progress=_building())
    for problem in index.problems:
        tell(str(problem))
    ranks = _ranks(logs)
    report = next((report for log, (_, _, report) in zip(ranks, logs, strict=False) if log.role == "first"), logs[0][2])
    given = answer_report(report, index, all=retired)
    match_id = _remember(given, bases, paths, time.monotonic() - begun)
    with contextlib.redirect_stdout(sys.stderr) if tee else contextlib.nullcontext():
        if check:
            from kbtool.cli.deciding import decide

            given = decide(given, bases, match_id, as_json=as_json)
        else:
            _print(given, ranks, report, index, as_json=as_json, explain=explain, retired=retired)
    _tell_mismatches(given)
    return ExitStatus.OK if given.matches else ExitStatus.NEGATIVE


def _ranks(logs: list[tuple[str, Reading, Report]]) -> list[RankLog]:
    if len(logs) == 1:
        return []
    from kbtool.matching.ranks import sort_ranks

    return sort_ranks(logs)


def _print(given: Answer, ranks: list[RankLog], report: Report, index: Index, *, as_json: bool, explain: bool, retired: bool) -> None:
    from kbtool.cli import answers

    candidates = _candidates(report, index, retired=retired) if explain else []
    if as_json:
        from kbtool.cli.render import print_json

        document = answers.answer_json(given)
        if ranks:
            document["logs"] = answers.ranks_json(ranks)
        if explain:
            from kbtool.cli.explaining import explanation_json

            document["explain"] = explanation_json(report, candidates)
        print_json(document)
        return
    if ranks:
        answers.print_ranks(ranks)
    answers.print_answer(given)
    if explain:
        from kbtool.cli.explaining import print_explanation

        print_explanation(report, candidates)


def _candidates(report: Report, index: Index, *, retired: bool) -> list[Scored]:
    from kbtool.matching.answer import ranked

    return ranked(report, index, all=retired)


def _building() -> Callable[[int, int], object] | None:
    """A line on a terminal while a large index is built for the first time."""
    if not sys.stderr.isatty():
        return None

    def show(done: int, total: int) -> None:
        if total > 500 and (done % 100 == 0 or done == total):
            sys.stderr.write(f"\rkb: indexing {done} of {total} entries" + ("\n" if done == total else ""))
            sys.stderr.flush()

    return show


def _tell_mismatches(given: Answer) -> None:
    """Say where the environment seen last is not the one an entry applies to; nothing is started for it."""
    if not any(match.applies_to for match in given.matches):
        return
    from kbtool.cli.render import tell
    from kbtool.verification.environment import remembered_fingerprint
    from kbtool.verification.needs import mismatches

    here = remembered_fingerprint()
    if here is None:
        return
    for match in given.matches:
        for sentence in mismatches(match.applies_to, here):
            tell(f"note: {match.id}: {sentence}")


def _paths(files: list[str]) -> list[Path | None]:
    """The files to read, folders opened up; None is standard input."""
    if not files or files == ["-"]:
        if sys.stdin is None or sys.stdin.isatty():
            raise KbError("match reads a log from a pipe or a file, and nothing was given", hint="`python train.py 2>&1 | kb match`, or `kb match train.log`")
        return [None]
    paths: list[Path | None] = []
    for name in files:
        path = Path(name)
        if path.is_dir():
            inside = sorted(item for item in path.iterdir() if item.is_file() and not item.name.startswith("."))
            if not inside:
                raise KbError(f"{name}: the folder holds no files", hint="name a log, or a folder of logs")
            paths += inside
        else:
            paths.append(path)
    return paths


def _read(path: Path | None, tee: bool) -> Reading:
    from kbtool.matching.stream import read_stream

    passing = _pass_on if tee else None
    progress = _progress()
    if path is None:
        return read_stream(sys.stdin.buffer, tee=passing, progress=progress)
    try:
        with open(path, "rb", buffering=0) as file:
            return read_stream(file, tee=passing, progress=progress)
    except BrokenPipeError:  # of the one who reads what is passed on
        raise
    except OSError as error:
        raise KbError(f"{path}: can not be read: {error.strerror}", hint="check the name and the permissions of the file") from None


def _pass_on(chunk: bytes) -> None:
    sys.stdout.buffer.write(chunk)
    sys.stdout.buffer.flush()


def _progress() -> Callable[[int], object] | None:
    if not sys.stderr.isatty():
        return None
    shown = 0

    def show(size: int) -> None:
        nonlocal shown
        if size - shown >= PROGRESS_FROM:
            shown = size
            sys.stderr.write(f"\rkb: {size >> 20} MiB read\r")
            sys.stderr.flush()

    return show


def _remember(given: Answer, bases: list[Base], paths: list[Path | None], seconds: float) -> int | None:
    from kbtool.journal.journal import open_journal
    from kbtool.journal.terminal import base_key, terminal_key

    source = ", ".join("-" if path is None else str(path) for path in paths)
    with open_journal() as journal:
        return journal.remember_match(given, base=base_key(base.root for base in bases), terminal=terminal_key(), source=source[:500], seconds=seconds)

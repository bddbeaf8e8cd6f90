"""`kb run -- CMD…`: run a job unchanged, watch it, and explain a crash or a stall."""

from __future__ import annotations

import os
import sys
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kbtool.cli.app import command_app
from kbtool.cli.durations import seconds_of
from kbtool.errors import ExitStatus, KbError

if TYPE_CHECKING:
    from kbtool.supervision.job import Declared, Ended, Listener, Options
    from kbtool.supervision.report import Report

app = command_app()
# what follows the job's name belongs to the job, options too
AS_TYPED = {"allow_interspersed_args": False}


class OnStall(str, Enum):
    """What happens to a stalled job."""

    TELL = "tell"
    DUMP = "dump"
    KILL = "kill"


@app.command(context_settings=AS_TYPED)
def run(
    command: Annotated[list[str], typer.Argument(metavar="-- COMMAND…", help="The job and its arguments.")],
    stall: Annotated[
        str, typer.Option("--stall", metavar="T", help="Least time without any sign of life that counts as a stall: 90s, 5m.")
    ] = "60s",
    on_stall: Annotated[
        OnStall, typer.Option("--on-stall", help="tell: report; dump: with all stacks; kill: report and end the job (exit 124).")
    ] = OnStall.TELL,
    json_report: Annotated[
        Path | None, typer.Option("--json-report", metavar="FILE", help="Write the report as JSON (docs/run.md).")
    ] = None,
    post_mortem: Annotated[
        bool, typer.Option("--post-mortem", help="python FILE only: after an exception, evaluate allowed checks on the values that failed.")
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Say nothing; the record is kept (`kb runs`).")] = False,
) -> None:
    """Run a job unchanged, watch it, and explain a crash or a stall. Example: kb run -- python train.py"""
    from kbtool.supervision.child import StartError, supported
    from kbtool.supervision.job import Options, run_job

    if not supported():
        raise KbError("kb run needs Linux: it reads /proc", hint="`python train.py 2>&1 | kb match` works everywhere")
    if post_mortem:
        from kbtool.supervision.python_command import with_post_mortem

        command = with_post_mortem(command)
    options = Options(stall_seconds=seconds_of(stall), kill_stalled=on_stall is OnStall.KILL)
    try:
        ended = run_job(command, dict(os.environ), options, _listener(on_stall, json_report, quiet, options))
    except StartError as error:
        sys.stderr.write(f"kb: {error}\n")
        raise typer.Exit(error.code) from None
    _after(ended, command, json_report, quiet=quiet, explained=post_mortem and ended.report.exit_code == 1)


def _listener(on_stall: OnStall, json_report: Path | None, quiet: bool, options: Options) -> Listener:
    from kbtool.cli.stalls import stall_lines
    from kbtool.supervision.job import Listener

    def stalled(told: Declared) -> None:
        if json_report is not None:
            _write_report(json_report, told.report)
        lines = stall_lines(told.stall, told.place, stacks=on_stall is not OnStall.TELL)
        _say(["", *lines, _what_now(options.would_kill(told.stall)), ""], told.line_end, quiet)

    return Listener(stalled, lambda sentence, line_end: _say([f"kb: {sentence}"], line_end, quiet))


def _what_now(killed: bool) -> str:
    return "kb: ending it, as --on-stall kill asks" if killed else "kb: the job is left alone; Ctrl-C ends it"


def _say(lines: list[str], line_end: str, quiet: bool) -> None:
    """Several lines in one write, so that the job's own output does not run into them."""
    if not quiet:
        sys.stderr.write("".join(line + line_end for line in lines))
        sys.stderr.flush()


def _after(ended: Ended, command: list[str], json_report: Path | None, *, quiet: bool, explained: bool) -> None:
    """Report, remember, and end as the job ended. Nothing that fails here changes how it ended. `explained`: the job has done so itself."""
    from kbtool.supervision.relay import end_like

    trouble = ended.trouble
    try:
        if json_report is not None:
            _write_report(json_report, ended.report)
        if not quiet and not explained:
            _print_end(ended)
        _remember(ended, command)
    except Exception as error:
        trouble = trouble or error
    if trouble is not None:
        from kbtool.cli.bug import report

        report(trouble)
    sys.stdout.flush()
    sys.stderr.flush()
    if ended.killed_as_stalled:
        os._exit(ExitStatus.STALL_KILLED)
    end_like(ended.status)


def _write_report(path: Path, report: Report) -> None:
    from kbtool.cli.render import tell
    from kbtool.supervision.records import write_json

    try:
        write_json(path, report.to_json())
    except OSError as error:
        tell(f"kb: {path}: the report can not be written: {error.strerror}")


def _print_end(ended: Ended) -> None:
    """A healthy end says nothing; a crash says what it was, what the base knows, and what to type next."""
    import contextlib

    from kbtool.cli.answers import print_answer
    from kbtool.cli.render import safe_line
    from kbtool.quantities import plural

    report = ended.report
    with contextlib.redirect_stdout(sys.stderr):
        if ended.left_behind:
            print(f"kb: the job left {plural(ended.left_behind, 'process', 'processes')} running, which kb has ended")
        known = report.answer is not None and (report.answer.matches or report.answer.failure)
        if report.ending or known:
            print(f"\nkb: the job ended with {report.signal or f'exit code {report.exit_code}'}")
        for sentence in report.ending:
            print(f"    {safe_line(sentence)}")
        if report.answer is not None and known:
            print_answer(report.answer._replace(matches=report.answer.matches[:3]))


def _remember(ended: Ended, command: list[str]) -> None:
    from kbtool.journal.journal import open_journal
    from kbtool.journal.records import RunSummary
    from kbtool.journal.terminal import base_key, terminal_key
    from kbtool.knowledge.layers import find_layers
    from kbtool.supervision.records import shown

    report = ended.report
    answer = report.answer or next((stall.answer for stall in report.stalls if stall.answer), None)
    stall = report.stalls[-1].kind.value if report.stalls else None
    seconds = report.timeline[-1].at if report.timeline else 0.0
    with open_journal() as journal:
        match_id = None
        if answer is not None:
            match_id = journal.remember_match(
                answer, base=base_key(base.root for base in find_layers()), terminal=terminal_key(), source="kb run"
            )
        summary = RunSummary(shown(command), str(ended.folder or ""), report.exit_code, report.signal, seconds, stall)
        journal.remember_run(summary, match_id=match_id)

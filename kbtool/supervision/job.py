"""`kb run` as a whole: a place for the record, the job, the watch beside it, and the report when it has ended.

The order of importance is the job, then its record, then kb's explanations: each may fail without hurting the one before.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from kbtool.errors import ExitStatus
from kbtool.model import Answer
from kbtool.supervision import endings, records, templates
from kbtool.supervision.explain import explain
from kbtool.supervision.output import Output
from kbtool.supervision.records import RunRecord
from kbtool.supervision.relay import Relay, launch
from kbtool.supervision.report import Moment, Report, Stall
from kbtool.supervision.startup_record import ProcessRecord, StartupRecords, prepare
from kbtool.supervision.verdict import StallClass
from kbtool.supervision.watch import Events, Watch

STALL_SECONDS = 60.0
"""The least time that a stall takes, without `--stall`."""

BY_A_PERSON = ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT")
"""Ends that need no explanation: somebody asked for them."""


@dataclass(frozen=True)
class Options:
    """What the caller chose."""

    stall_seconds: float = STALL_SECONDS
    kill_stalled: bool = False
    """End the job at the first stall, unless it computes."""

    def would_kill(self, stall: Stall) -> bool:
        """A job that computes is never killed for being silent."""
        return self.kill_stalled and stall.kind is not StallClass.SPINNING


@dataclass(frozen=True)
class Declared:
    """A stall, as it is told while the job still runs."""

    stall: Stall
    report: Report
    """The run so far."""
    place: Path | None
    """Where its text with all stacks is kept."""
    line_end: str
    """What ends a line on the terminal at this moment."""


@dataclass(frozen=True)
class Listener:
    """Whom a run tells: a stall, and a remark with what ends its line."""

    stalled: Callable[[Declared], None]
    remark: Callable[[str, str], None]


@dataclass(frozen=True)
class Ended:
    """A job that has ended."""

    status: int
    """As the system's wait gives it."""
    report: Report
    folder: Path | None
    killed_as_stalled: bool
    left_behind: int
    """Processes that it left running, ended by kb."""
    trouble: Exception | None = None
    """What went wrong in kb itself, none of it in the job."""


def run_job(command: Sequence[str], environment: Mapping[str, str], options: Options, listener: Listener) -> Ended:
    """Run `command` to its end. Raises StartError when there is no such program."""
    started = time.time()
    folder, environment = _prepared(environment)
    output = Output()
    kills = endings.count_memory_kills()
    relay = launch(command, environment, output)
    run = RunRecord(folder or Path(), tuple(command), Path(os.getcwd()), _when(started), os.getpid()) if folder else None
    watch = _watch(relay, output, folder, options, listener)
    _save(run)
    status = relay.wait()
    watch.stop()
    seconds = time.time() - started
    trouble = watch.failure
    try:
        _finish(watch.report, status, kills, folder, watch.records)
        watch.report.timeline.append(Moment(seconds, "ended", watch.report.signal or f"exit code {watch.report.exit_code}"))
        watch.report.answer = _answer(command, watch.report, status, output.kept().decode("utf-8", "replace"))
        if relay.kill_requested.is_set():
            watch.report.exit_code = ExitStatus.STALL_KILLED
        if run is not None:
            _keep(run, watch, seconds, output)
    except Exception as error:
        trouble = error
    return Ended(status, watch.report, folder, relay.kill_requested.is_set(), len(relay.left_behind), trouble)


def _when(moment: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M:%SZ", time.gmtime(moment))


def _prepared(environment: Mapping[str, str]) -> tuple[Path | None, Mapping[str, str]]:
    """A folder for the run and the environment that fills it; without a writable state folder neither."""
    with contextlib.suppress(OSError):
        folder = records.new_folder()
        return folder, prepare(environment, folder)
    return None, environment


def _watch(relay: Relay, output: Output, folder: Path | None, options: Options, listener: Listener) -> Watch:
    def stalled(stall: Stall) -> None:
        place = _keep_stall(folder, stall, len(watch.report.stalls))
        listener.stalled(Declared(stall, watch.report, place, relay.line_end()))
        if options.would_kill(stall):
            relay.kill_requested.set()

    events = Events(stalled, lambda sentence: listener.remark(sentence, relay.line_end()))
    startup = StartupRecords(folder) if folder else None
    watch = Watch(relay.family, output, startup, options.stall_seconds, relay.child.reads_terminal, events)
    watch.start()
    return watch


def _keep_stall(folder: Path | None, stall: Stall, number: int) -> Path | None:
    if folder is None:
        return None
    place = folder / f"stall-{number}.txt"
    with contextlib.suppress(OSError):
        records.write_text(place, stall.text())
        return place
    return None


def _finish(report: Report, status: int, kills: endings.Counters, folder: Path | None, startup: StartupRecords | None) -> None:
    """Fill in how it ended, what its imports raised, and the evidence for an end that was no success."""
    report.exit_code = endings.shell_code(status)
    report.signal = endings.name_of_signal(status) if os.WIFSIGNALED(status) else None
    if startup is not None:
        report.failures = startup.failures()
        report.missing_modules = sum(len(record.missing) for record in startup.by_pid.values())
        report.in_progress = next((going for record in startup.by_pid.values() if (going := record.in_progress())), None)
    if status != 0 and not _asked_for(report):
        report.ending = endings.describe(status, kills, folder)


def _asked_for(report: Report) -> bool:
    return report.exit_code == 130 or report.signal in BY_A_PERSON


def _answer(command: Sequence[str], report: Report, status: int, output: str) -> Answer | None:
    """What the base knows about a crash, asked without the lines that healthy runs print too; a good end teaches those lines."""
    cwd = Path(os.getcwd())
    if status == 0:
        with contextlib.suppress(OSError):
            templates.remember(command, cwd, output)
        return None
    if _asked_for(report):
        return None
    evidence = "\n" + "\n".join(report.ending)
    telling = templates.without_usual(command, cwd, output)
    answer = explain(telling + evidence)
    if telling != output and (answer is None or not answer.matches):
        answer = explain(output + evidence)
    return answer


def _save(run: RunRecord | None) -> None:
    if run is not None:
        with contextlib.suppress(OSError):
            records.save(run)


def _keep(run: RunRecord, watch: Watch, seconds: float, output: Output) -> None:
    """Write what is kept of the run: summary, report, output, all redacted."""
    report = watch.report
    first = _first_python(watch.records)
    _save(
        replace(
            run,
            seconds=round(seconds, 2),
            exit_code=report.exit_code,
            signal=report.signal,
            interpreter=first.start.get("executable") if first else None,
            variables=first.variables if first else {},
            versions=watch.records.versions() if watch.records else {},
            stalls=tuple(stall.kind.value for stall in report.stalls),
            matches=tuple(match.id for match in report.answer.matches) if report.answer else (),
        )
    )
    records.write_json(run.folder / records.REPORT, report.to_json())
    records.write_text(run.output_path, output.kept().decode("utf-8", "replace"))
    records.redact_files(run.folder)


def _first_python(startup: StartupRecords | None) -> ProcessRecord | None:
    started = [record for record in startup.by_pid.values() if record.start] if startup else []
    return min(started, key=lambda record: float(record.start.get("time", 0.0)), default=None)

"""`kb runs`: the jobs that kb ran, and one of them in full."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from kbtool.cli.app import command_app
from kbtool.errors import ExitStatus, KbError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kbtool.supervision.records import RunRecord

app = command_app()

TAIL_LINES = 20


@app.command()
def runs(
    number: Annotated[int | None, typer.Argument(metavar="[N]", help="Show one run: 1 is the newest.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON document.")] = False,
) -> int:
    """List the jobs that kb ran, or show one. Example: kb runs 1"""
    from kbtool.cli.render import print_json
    from kbtool.supervision.records import all_runs

    kept = all_runs()
    if number is not None:
        chosen = _chosen(kept, number)
        print_json(_full(chosen)) if as_json else _show(chosen)
        return ExitStatus.OK
    if as_json:
        print_json([_summary(run) for run in kept])
    else:
        _list(kept)
    return ExitStatus.OK if kept else ExitStatus.NEGATIVE


def _chosen(kept: Sequence[RunRecord], number: int) -> RunRecord:
    if not 1 <= number <= len(kept):
        raise KbError(f"there is no run {number}; {len(kept)} {'is' if len(kept) == 1 else 'are'} kept", hint="`kb runs` lists them", status=ExitStatus.NEGATIVE)
    return kept[number - 1]


def _summary(run: RunRecord) -> dict[str, Any]:
    return {
        "started": run.started,
        "command": list(run.command),
        "cwd": str(run.cwd),
        "seconds": run.seconds,
        "exit_code": run.exit_code,
        "signal": run.signal,
        "stalls": list(run.stalls),
        "matches": list(run.matches),
        "interpreter": run.interpreter,
        "variables": dict(run.variables),
        "versions": dict(run.versions),
        "folder": str(run.folder),
    }


def _full(run: RunRecord) -> dict[str, Any]:
    import contextlib
    import json

    report = None
    with contextlib.suppress(OSError, ValueError):
        report = json.loads(run.report_path.read_bytes())
    return {**_summary(run), "report": report}


def _list(kept: Sequence[RunRecord]) -> None:
    from kbtool.cli.render import safe_line, styled, tell
    from kbtool.supervision.records import shown

    if not kept:
        tell("no runs are kept yet", hint="kb run -- python train.py")
    for place, run in enumerate(kept, 1):
        stalls = f" · stalled: {', '.join(run.stalls)}" if run.stalls else ""
        print(f"{place:3}  {run.started}  {_end(run):22}  {safe_line(shown(run.command))[:80]}{styled(stalls, 'yellow')}")


def _end(run: RunRecord) -> str:
    from kbtool.quantities import duration

    if run.seconds is None:
        return "no end seen"
    return f"{run.signal or f'exit {run.exit_code}'} after {duration(run.seconds)}"


def _show(run: RunRecord) -> None:
    from kbtool.cli.render import safe, safe_line, styled
    from kbtool.supervision.records import shown

    facts = {
        "command": shown(run.command),
        "folder": str(run.cwd),
        "started": run.started,
        "ended": _end(run),
        "python": run.interpreter or "",
        "versions": ", ".join(f"{name} {version}" for name, version in sorted(run.versions.items())[:12]),
        "matches": ", ".join(run.matches),
        "record": str(run.folder),
    }
    for name, value in facts.items():
        if value:
            print(f"{styled(name.ljust(9), 'dim')} {safe_line(value)}")
    _show_report(_full(run)["report"])
    for path in sorted(run.folder.glob("stall-*.txt")):
        print(f"\n{safe(path.read_text(encoding='utf-8', errors='replace'))}", end="")
    if run.output_path.exists():
        tail = run.output_path.read_text(encoding="utf-8", errors="replace").splitlines()[-TAIL_LINES:]
        print(f"\n{styled('last output', 'dim')}\n" + "\n".join(f"  {safe(line)}" for line in tail))


def _show_report(report: dict[str, Any] | None) -> None:
    from kbtool.cli.render import safe_line, styled

    if report is None:
        return
    print(styled("timeline", "dim"))
    for moment in report.get("timeline", [])[:60]:
        print(f"  {moment['at']:8.1f} s  {safe_line(moment['event'])} {safe_line(moment['detail'])}")
    failures = report.get("imports", {}).get("swallowed", [])
    if failures:
        print(styled("exceptions that imports raised", "dim"))
    for failure in failures[:20]:
        print(
            f"  {safe_line(failure['module'])}: {safe_line(failure['type'])}: {safe_line(failure['message'])} at {safe_line(failure['at'])}"
        )

"""kb probe: one look at something that runs, without restarting it. Each verb is a few lines here and a module `probe_…` of its own."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from kbtool.cli.app import command_app
from kbtool.errors import ExitStatus

app = command_app("One look at something that runs. Example: kb probe port 8000")

AsJson = Annotated[bool, typer.Option("--json", help="One JSON document (docs/json.md).")]


Svg = Annotated[Path | None, typer.Option("--svg", metavar="FILE", help="Draw it into this file, too.")]


@app.command(epilog="Example: kb probe stack 4711 --for 30s --svg flame.svg")
def stack(
    pid: Annotated[int, typer.Argument(metavar="PID", min=1, help="The job's first process; its children are looked at too.")],
    duration: Annotated[str | None, typer.Option("--for", metavar="T", help="Also sample for so long: share of time per frame.")] = None,
    svg: Svg = None,
    as_json: AsJson = False,
) -> ExitStatus:
    """Where a job stands: its process tree, what each process waits for, its Python stacks, the odd one first."""
    from kbtool.cli.durations import seconds_of
    from kbtool.cli.probe_stack import show_stacks

    if svg is not None and duration is None:
        duration = "10s"
    return show_stacks(pid, seconds_of(duration) if duration else None, svg=svg, as_json=as_json)


@app.command(epilog="Example: kb probe gpu 4711 --for 30s")
def gpu(
    pid: Annotated[int | None, typer.Argument(metavar="[PID]", min=1, help="The job; its children count too. Default: all GPUs.")] = None,
    duration: Annotated[str, typer.Option("--for", metavar="T", help="How long to look: 30s, 2m.")] = "10s",
    log: Annotated[Path | None, typer.Option("--log", metavar="FILE", help="The job's log, for its steps (default: the file its output goes to).")] = None,
    svg: Svg = None,
    as_json: AsJson = False,
) -> ExitStatus:
    """Utilisation and memory of the GPUs over some seconds, drawn and read: leak, jump, starved, busy, idle, throttled."""
    from kbtool.cli.durations import seconds_of
    from kbtool.cli.probe_gpu import show_gpus

    return show_gpus(pid, seconds_of(duration), log=log, svg=svg, as_json=as_json)


@app.command(epilog="Example: kb probe port 8000")
def port(
    number: Annotated[int, typer.Argument(metavar="N", min=1, max=65535, help="The TCP port.")],
    as_json: AsJson = False,
) -> ExitStatus:
    """Who holds a port, since when, on which address, and the one command that frees it."""
    from kbtool.cli.probe_port import show_port

    return show_port(number, as_json=as_json)


@app.command(epilog="Example: kb probe net 4711")
def net(
    pid: Annotated[int, typer.Argument(metavar="PID", min=1, help="The process; its children are looked at too.")],
    duration: Annotated[str, typer.Option("--for", metavar="T", help="How long to look: 2s, 1m.")] = "2s",
    trace: Annotated[bool, typer.Option("--trace", help="Follow its network calls with strace meanwhile: stops it for an instant at each.")] = False,
    as_json: AsJson = False,
) -> ExitStatus:
    """Where a process listens, where it is connected, and which connections are refused or stay unanswered."""
    from kbtool.cli.durations import seconds_of
    from kbtool.cli.probe_net import show_network

    return show_network(pid, seconds_of(duration), trace=trace, as_json=as_json)


@app.command(epilog="Example: kb probe loader train:make_loader")
def loader(
    target: Annotated[str, typer.Argument(metavar="MODULE:ATTR", help="A DataLoader, or a function without arguments that makes one.")],
    workers: Annotated[str, typer.Option("--workers", metavar="LIST", help="The worker counts to time.")] = "0,1,2,4",
    batches: Annotated[int, typer.Option("--batches", min=2, help="Batches to take with each.")] = 100,
    timeout: Annotated[str, typer.Option("--timeout", metavar="T", help="For all of it.")] = "2m",
    as_json: AsJson = False,
) -> ExitStatus:
    """Time a data loader with 0, 1, 2, 4 workers in your own python: what it waits for, and which sample is slow."""
    from kbtool.cli.durations import seconds_of
    from kbtool.cli.probe_loader import counts_of, show_loader

    return show_loader(target, counts_of(workers), seconds_of(timeout), batches, as_json=as_json)

"""`kb run -- CMD…`: run a job unchanged, watch it, and explain a crash or a stall."""

from __future__ import annotations

import typer

app = typer.Typer(add_completion=False, context_settings={"ignore_unknown_options": True})


@app.command()
def run(ctx: typer.Context, command: list[str] = typer.Argument(..., metavar="-- COMMAND…")) -> None:
    import os, sys
    from kbtool.supervision.output import Output
    from kbtool.supervision.relay import launch, end_like
    from kbtool.supervision.child import CannotStart
    try:
        r = launch(command, dict(os.environ), Output())
    except CannotStart as e:
        print("kb:", e, file=sys.stderr); raise typer.Exit(e.code)
    end_like(r.wait())

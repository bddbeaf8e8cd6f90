"""`kb triage`: four steps for a failure that no entry explains, kept across invocations."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from kbtool.cli.app import command_app

if TYPE_CHECKING:
    from kbtool.cli.bench import Bench
    from kbtool.model import Verdict

app = command_app()


@app.command()
def triage(
    file: Annotated[str | None, typer.Argument(metavar="[FILE]", help="A log to begin with; `-` or a pipe: standard input; default: the last match.")] = None,
    observed: Annotated[str, typer.Option("--observed", metavar="TEXT", help="First sentence: exact message, exit code, line.")] = "",
    condition: Annotated[str, typer.Option("--condition", metavar="TEXT", help="Second: when it reproduces, and when it does not.")] = "",
    environment: Annotated[str, typer.Option("--environment", metavar="TEXT", help="Third: versions and variables; default: what kb sees.")] = "",
    domain: Annotated[str | None, typer.Option("--domain", metavar="NAME", help="Where the fault lies; default: by the decision table.")] = None,
    hypothesis: Annotated[str, typer.Option("--hypothesis", metavar="TEXT", help="What might be the cause.")] = "",
    check: Annotated[str, typer.Option("--check", metavar="LINE", help="The smallest check that can prove it wrong.")] = "",
    result: Annotated[str, typer.Option("--result", metavar="VERDICT", help="What it said: confirmed, refuted or inconclusive.")] = "",
    note: Annotated[str, typer.Option("--note", metavar="TEXT", help="Why, with --result or --done.")] = "",
    done: Annotated[bool, typer.Option("--done", help="The triage is over.")] = False,
    new: Annotated[bool, typer.Option("--new", help="Begin another one; the open one is closed.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="The state as JSON.")] = False,
) -> None:
    """Anchor the failure in three sentences, locate its domain, verify the smallest hypothesis, converge or go back. The aim is 20 minutes.

    After two refuted hypotheses in a row kb takes no third one until the anchor was written again. `kb verify` counts too.
    Example: kb triage --hypothesis "the cache disk is full" --check "df -h ~/.cache"
    """
    from kbtool.cli.asking import at_terminal
    from kbtool.cli.bench import open_bench
    from kbtool.review.triage import Anchor, anchored, decided, located, supposed

    with open_bench(_piped(file), new=new) as bench:
        state = anchored(bench.state, Anchor(observed, condition, environment))
        state = located(state, bench.domains, domain)
        if hypothesis:
            state = supposed(state, hypothesis, check)
        if result:
            state = decided(state, _verdict(result), note)
        bench.keep(state, ended=(note or "done") if done else "")
        if as_json:
            _print_json(bench)
        elif not (observed or condition or environment or domain or hypothesis or result or done) and at_terminal() and sys.stdout.isatty():
            from kbtool.cli.bench import work_through

            work_through(bench)
        else:
            _show(bench)


def _piped(file: str | None) -> str | None:
    """A log from a pipe or a file; None where there is none."""
    from kbtool.errors import KbError

    if file is None and (sys.stdin is None or sys.stdin.isatty()):
        return None
    try:
        if file in (None, "-"):
            text = sys.stdin.buffer.read().decode("utf-8", "replace")
        else:
            with open(str(file), encoding="utf-8", errors="replace") as opened:
                text = opened.read()
    except OSError as error:
        raise KbError(f"{file}: can not be read: {error.strerror}", hint="check the name and the permissions of the file") from None
    return text if text.strip() else None


def _verdict(text: str) -> Verdict:
    from kbtool.errors import KbError
    from kbtool.model import Verdict as Verdicts

    try:
        return Verdicts(text)
    except ValueError:
        raise KbError(f"`{text}` is no verdict", hint="confirmed, refuted or inconclusive") from None


def _print_json(bench: Bench) -> None:
    from dataclasses import asdict

    from kbtool.cli.render import print_json
    from kbtool.review.triage import AIM_MINUTES, Step

    state = bench.state
    domain = bench.domain
    print_json(
        {
            "schema": 1,
            "step": state.step.value,
            "minutes": round(bench.minutes, 1),
            "aim_minutes": AIM_MINUTES,
            "anchor": asdict(state.anchor),
            "missing": state.anchor.missing,
            "earlier_anchors": [asdict(anchor) for anchor in state.anchors[:-1]],
            "domain": {"name": domain.name, "first_action": domain.first_action, "minimal_check": domain.minimal_check, "go_back_when": domain.go_back_when} if domain else None,
            "hypotheses": [{name: value for name, value in asdict(each).items() if name != "anchor"} for each in state.hypotheses],
            "refuted_in_a_row": state.refuted_in_a_row,
            "stop": state.step is Step.BACK,
            "changes": bench.changes() if state.step is Step.BACK else [],
            "next": bench.advice(),
        }
    )


def _show(bench: Bench) -> None:
    from kbtool.cli.render import safe, styled

    for line in bench.lines():
        typer.echo(safe(line))
    typer.echo(styled("next: ", "bold") + safe(bench.advice()))

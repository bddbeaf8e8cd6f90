"""`kb stats`: how many incidents, how fast from match to verdict, how often the first answer was right."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from kbtool.cli.app import command_app

if TYPE_CHECKING:
    from kbtool.review.statistics import MonthStatistics

app = command_app()


@app.command()
def stats(
    as_json: Annotated[bool, typer.Option("--json", help="The months as JSON.")] = False,
) -> None:
    """Show by month what this machine's journal knows: incidents, misses, verdicts, time to verdict, first answers that were right.

    Example: kb stats --json
    """
    from dataclasses import asdict

    from kbtool.cli.render import print_json, tell
    from kbtool.journal.journal import open_journal
    from kbtool.review.statistics import by_month

    with open_journal() as journal:
        months = by_month(journal)
    if as_json:
        print_json({"schema": 1, "months": [asdict(month) for month in months]})
        return
    if not months:
        tell("the journal is empty", hint="it fills with every `kb match` and `kb verify`; `KB_JOURNAL=off` would keep it empty")
        return
    _print_table(months)


def _print_table(months: list[MonthStatistics]) -> None:
    from kbtool.cli.render import styled

    head = ("month", "answered", "no answer", "confirmed", "refuted", "inconcl.", "to verdict", "first right")
    typer.echo(styled("  ".join(name.rjust(11) for name in head), "bold"))
    for month in months:
        cells = (month.month, month.answered, month.missed, month.confirmed, month.refuted, month.inconclusive, _time(month.seconds), _share(month))
        typer.echo("  ".join(str(cell).rjust(11) for cell in cells))


def _time(seconds: float | None) -> str:
    if seconds is None:
        return "-"
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.0f} h"


def _share(month: MonthStatistics) -> str:
    return f"{month.first_right} of {month.decided}" if month.decided else "-"

"""kb eval: measure matching on labelled cases, compare with an earlier result, gate on floors, calibrate."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kbtool.cli.app import command_app
from kbtool.errors import ExitStatus, KbError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from kbtool.knowledge.layers import Base
    from kbtool.matching.evaluation import Case, Figures, Judged
    from kbtool.matching.index import Index

app = command_app()


@app.command("eval", epilog="Example: kb eval cases/ --floor r1=0.85 --floor near_strong=0.2")
def eval_(
    cases: Annotated[Path, typer.Argument(metavar="CASES", help="A YAML file of labelled cases, or a folder of them.")],
    as_json: Annotated[bool, typer.Option("--json", help="Figures and every case as one JSON document.")] = False,
    compare: Annotated[Path | None, typer.Option("--compare", metavar="FILE", help="An earlier --json result: say what changed.")] = None,
    floor: Annotated[list[str] | None, typer.Option("--floor", metavar="FIGURE=N", help="Exit 1 when a figure is worse than N; several may be given.")] = None,
    misses: Annotated[bool, typer.Option("--misses", help="List the cases that were answered wrongly.")] = False,
    calibrate: Annotated[bool, typer.Option("--calibrate", help="Fit score and `strong` to these cases, for this base and person.")] = False,
) -> int:
    """Measure matching on labelled cases.

    A file is a cause ({slug: ID, accept: [ID], cases: [{source: …, text: …}]}) or a list of negatives ({source: …, text: …}; named
    …near… for look-alikes, …unrelated… for texts that must find nothing).
    """
    from kbtool.cli.render import print_json, tell
    from kbtool.knowledge.layers import find_layers
    from kbtool.matching import evaluation
    from kbtool.matching.index import open_index

    bounds = _bounds(floor or [])
    before = _earlier(compare) if compare else None
    loaded = evaluation.load_cases(cases)
    bases = find_layers()
    index = open_index(bases)
    if calibrate:
        _calibrate(loaded, index, bases)
    judged = evaluation.judge(loaded, index, progress=_progress())
    found = evaluation.figures(judged)
    if as_json:
        print_json(evaluation.result(found, judged))
    else:
        _print(found, judged, misses)
    if before is not None and not as_json:
        _print_changes(before, found, judged)
    missed = evaluation.missed_floors(found, bounds)
    for sentence in missed:
        tell(f"kb: {sentence}")
    return ExitStatus.NEGATIVE if missed else ExitStatus.OK


def _bounds(floors: list[str]) -> dict[str, float]:
    bounds = {}
    for item in floors:
        name, _, number = item.partition("=")
        try:
            bounds[name.strip().replace("-", "_")] = float(number)
        except ValueError:
            raise KbError(f"`{item}` is no floor", hint="write it as `--floor r1=0.85`") from None
    return bounds


def _earlier(path: Path) -> dict[str, Any]:
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise KbError(f"{path}: can not be compared with: {error}", hint="`kb eval CASES --json > before.json` makes such a file") from None
    if not isinstance(data, dict):
        raise KbError(f"{path}: is no result of `kb eval --json`", hint="`kb eval CASES --json > before.json` makes such a file")
    return data


def _calibrate(cases: Sequence[Case], index: Index, bases: Sequence[Base]) -> None:
    from kbtool.cli.render import tell
    from kbtool.matching.calibrate import LEAST_CASES, fit, samples, save

    given = samples(cases, index)
    if sum(one.weight == 1.0 for one in given) < LEAST_CASES:
        raise KbError(f"a calibration needs at least {LEAST_CASES} cases", hint="collect more cases with `kb learn` and your journal first")
    path = save(fit(given), [base.root for base in bases])
    tell(f"calibrated on {len(cases)} cases; kept in {path}", hint=f"remove {path} to return to the shipped calibration")


def _progress() -> Callable[[int, int], object] | None:
    if not sys.stderr.isatty():
        return None

    def show(done: int, total: int) -> None:
        sys.stderr.write(f"\rkb: {done} of {total} cases" + ("\n" if done == total else ""))
        sys.stderr.flush()

    return show


def _print(found: Figures, judged: Sequence[Judged], misses: bool) -> None:
    from kbtool.matching.evaluation import FLOORS, reliability
    from kbtool.quantities import plural

    print(f"{plural(found.cases, 'case')}, {plural(found.near, 'near miss', 'near misses')}, {plural(found.unrelated, 'unrelated text')}\n")
    for name in FLOORS:
        value = getattr(found, name)
        print(f"{name:20} {'-' if value is None else f'{value:.3f}'}")
    print("\nscore        answers  mean score  right")
    for one in reliability(judged):
        print(f"{one.low:.1f} to {one.low + 0.1:.1f}  {one.count:8}  {one.score:10.2f}  {one.right:5.2f}")
    if misses:
        _print_misses(judged)


def _print_misses(judged: Sequence[Judged]) -> None:
    from kbtool.cli.render import safe_line
    from kbtool.matching.evaluation import CASE, NEAR

    print()
    for one in judged:
        wrong = not one.correct if one.case.kind == CASE else one.strong if one.case.kind == NEAR else one.first is not None
        if wrong:
            wanted = "/".join(sorted(one.case.right)) or one.case.kind
            print(safe_line(f"{one.case.source}: {wanted} → {one.first or 'nothing'} {one.score:.2f}{' strong' if one.strong else ''}"))


def _print_changes(before: dict[str, Any], found: Figures, judged: Sequence[Judged]) -> None:
    from kbtool.cli.render import safe_line
    from kbtool.matching.evaluation import FLOORS, changes

    print("\ncompared with the earlier result:")
    changed = changes(before, judged)
    old = before.get("figures", {})
    for name in FLOORS:
        was, now = old.get(name), getattr(found, name)
        if was is not None and now is not None and was != now:
            print(f"{name:20} {was:.3f} → {now:.3f}")
    for source, was_told, now_told in changed:
        print(safe_line(f"  {source}: {was_told} → {now_told}"))
    if not changed:
        print("  every case is answered as before")

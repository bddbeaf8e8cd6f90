"""`kb tree`: the fault tree, which shows the branch that keeps producing incidents."""

from __future__ import annotations

import sys
from enum import Enum
from typing import Annotated, Any

import typer

from kbtool.cli.app import command_app

app = command_app()


class Format(str, Enum):
    """The forms a tree can be drawn in."""

    TEXT = "text"
    MERMAID = "mermaid"
    DOT = "dot"
    SVG = "svg"


@app.command()
def tree(
    form: Annotated[Format, typer.Option("--format", help="Text, Mermaid, Graphviz dot, or SVG.")] = Format.TEXT,
    domain: Annotated[str | None, typer.Option("--domain", metavar="NAME", help="Only this domain.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="The tree as JSON.")] = False,
) -> None:
    """Draw the fault tree: domain, family of causes, cause, with incidents, confirmations and trend. A family with `?` is proposed.

    Example: kb tree --format mermaid > faults.mmd
    """
    from kbtool.cli.render import print_json, safe, tell
    from kbtool.journal.journal import open_journal
    from kbtool.knowledge.layers import find_layers
    from kbtool.knowledge.schema import today
    from kbtool.matching.index import open_index
    from kbtool.review.survey import survey
    from kbtool.review.tree import fault_tree, worst_branch

    day = today()
    with open_journal() as journal:
        found = survey(open_index(find_layers()), journal)
    for problem in found.problems:
        tell(f"kb: {problem}")
    drawn = fault_tree(found.standings, day, domain=domain)
    worst = worst_branch(drawn, found.standings)
    if as_json:
        print_json({"schema": 1, "tree": _json(drawn), "worst": _worst_json(worst)})
        return
    sys.stdout.write(safe(_drawn(drawn, form)))
    if worst is not None and form is Format.TEXT:
        typer.echo(safe(f"\nmost incidents: {worst.domain} › {worst.family}: {worst.incidents} ({worst.share:.0%} of all)"))
        if worst.common:
            typer.echo(safe(f"in common: {', '.join(worst.common)}"))


def _drawn(node: Any, form: Format) -> str:
    from kbtool.review import drawing

    draw = {Format.TEXT: drawing.as_text, Format.MERMAID: drawing.as_mermaid, Format.DOT: drawing.as_dot, Format.SVG: drawing.as_svg}[form]
    return draw(node)


def _json(node: Any) -> dict[str, Any]:
    return {
        "name": node.name,
        "kind": node.kind,
        "title": node.title,
        "proposed": node.proposed,
        "incidents": node.incidents,
        "confirmed": node.confirmed,
        "months": node.months,
        "children": [_json(child) for child in node.children],
    }


def _worst_json(worst: Any) -> dict[str, Any] | None:
    if worst is None:
        return None
    return {"domain": worst.domain, "family": worst.family, "incidents": worst.incidents, "share": worst.share, "in_common": list(worst.common)}

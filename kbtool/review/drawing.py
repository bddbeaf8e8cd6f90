"""The fault tree drawn: as text, as Mermaid and Graphviz for a page, as SVG for a slide."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from kbtool.review.tree import Node

BARS = "▁▂▃▄▅▆▇█"
ROW, COLUMN, WIDTH = 22, 320, 280
"""Pixels of the SVG: height of a row, distance of columns, width of a box."""


def sparkline(values: list[int]) -> str:
    """Small bars for a series; a dot where nothing happened."""
    top = max(values, default=0)
    return "".join("·" if not value else BARS[min(len(BARS) - 1, (value * len(BARS) - 1) // top)] for value in values)


def counts(node: Node) -> str:
    """Incidents and confirmations in words, short."""
    parts = [f"{node.incidents} incident{'s' if node.incidents != 1 else ''}"] if node.incidents else []
    parts += [f"{node.confirmed}× confirmed"] if node.confirmed else []
    if node.incidents:
        arrow = "↑" if node.trend > 0 else "↓" if node.trend < 0 else "→"
        parts.append(f"{sparkline(node.months)} {arrow}")
    return ", ".join(parts)


def label(node: Node) -> str:
    """What a node is called: a proposed family carries a question mark."""
    return f"{node.name}?" if node.proposed else node.name


def as_text(tree: Node) -> str:
    """Lines with branches."""
    lines = [f"{tree.name}  {counts(tree)}".rstrip()]
    lines += _text_lines(tree, "")
    return "\n".join(lines) + "\n"


def _text_lines(node: Node, indent: str) -> Iterator[str]:
    for at, child in enumerate(node.children):
        last = at == len(node.children) - 1
        told = counts(child)
        yield f"{indent}{'└─' if last else '├─'} {label(child)}" + (f"  {told}" if told else "")
        yield from _text_lines(child, indent + ("   " if last else "│  "))


def _numbered(tree: Node) -> list[tuple[int, int | None, Node]]:
    """Every node with a number and its parent's number, parents first."""
    found: list[tuple[int, int | None, Node]] = []

    def visit(node: Node, parent: int | None) -> None:
        number = len(found)
        found.append((number, parent, node))
        for child in node.children:
            visit(child, number)

    visit(tree, None)
    return found


def as_mermaid(tree: Node) -> str:
    """A flowchart that code hosts render."""
    lines = ["graph LR"]
    for number, parent, node in _numbered(tree):
        text = escape(_two_lines(node, "<br/>"), quote=True).replace("&lt;br/&gt;", "<br/>").replace("#", "#35;")
        lines.append(f'  n{number}["{text}"]')
        if parent is not None:
            lines.append(f"  n{parent} --> n{number}")
    return "\n".join(lines) + "\n"


def as_dot(tree: Node) -> str:
    """A Graphviz digraph; a branch is the darker the more incidents it has."""
    lines = ["digraph faults {", "  rankdir=LR;", '  node [shape=box, style=filled, fontname="sans-serif"];']
    for number, parent, node in _numbered(tree):
        text = _two_lines(node, "\n").replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
        lines.append(f'  n{number} [label="{text}", fillcolor="{_colour(node, tree)}"];')
        if parent is not None:
            lines.append(f"  n{parent} -> n{number};")
    return "\n".join([*lines, "}"]) + "\n"


def _two_lines(node: Node, newline: str) -> str:
    told = counts(node)
    return label(node) + (f"{newline}{told}" if told else "")


def _colour(node: Node, tree: Node) -> str:
    share = node.incidents / tree.incidents if tree.incidents else 0.0
    fade = int(255 - 120 * share)
    return f"#ff{fade:02x}{fade:02x}" if share else "#f4f4f4"


def as_svg(tree: Node) -> str:
    """A picture that needs no program to be made: a column for each level, a row for each entry."""
    nodes = _numbered(tree)
    places = _places(tree)
    height = max(y for _, y in places) + ROW
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{4 * COLUMN}" height="{height}" font-family="sans-serif" font-size="12">',
        "<style>path{fill:none;stroke:#999}text{dominant-baseline:middle}.c{fill:#666;font-size:10px}</style>",
    ]
    for number, parent, node in nodes:
        x, y = places[number]
        if parent is not None:
            start, level = places[parent]
            parts.append(f'<path d="M{start + WIDTH},{level} C{start + COLUMN - 20},{level} {x - 20},{y} {x},{y}"/>')
        parts.append(f'<rect x="{x}" y="{y - 9}" width="{WIDTH}" height="18" rx="3" fill="{_colour(node, tree)}"/>')
        parts.append(
            f'<text x="{x + 4}" y="{y}"><title>{escape(node.title or node.name)}</title>{escape(label(node)[:34])}'
            f' <tspan class="c">{escape(counts(node))}</tspan></text>'
        )
    return "\n".join([*parts, "</svg>"]) + "\n"


def _places(tree: Node) -> list[tuple[int, int]]:
    """The place of every node, in the order of `_numbered`: entries below each other, a branch beside the middle of its own."""
    places: list[tuple[int, int]] = []
    rows = 0

    def visit(node: Node, depth: int) -> int:
        nonlocal rows
        at = len(places)
        places.append((0, 0))
        if node.children:
            below = [visit(child, depth + 1) for child in node.children]
            y = (below[0] + below[-1]) // 2
        else:
            rows += 1
            y = rows * ROW
        places[at] = (10 + depth * COLUMN, y)
        return y

    visit(tree, 0)
    return places

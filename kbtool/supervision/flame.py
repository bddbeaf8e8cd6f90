"""A profile as a tree of frames with their share of time: as text, and as a flame graph in SVG that loads nothing from anywhere."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from xml.sax.saxutils import escape, quoteattr

from kbtool.supervision.sampling import Stack
from kbtool.supervision.stacks import Frame

WIDTH, ROW, CHARACTER = 1200, 18, 7.0
"""Pixels: of the whole graph, of one level, and of one letter."""

NARROWEST = 0.5
"""Pixels under which a frame is left out of the graph."""


@dataclass
class Node:
    """A place in the tree: how often it was seen, and what was called from there."""

    label: str
    count: int = 0
    children: dict[str, Node] = field(default_factory=dict)

    def child(self, label: str) -> Node:
        """The child of that name, made at its first use."""
        return self.children.setdefault(label, Node(label))

    def heaviest(self) -> list[Node]:
        """The children, the most often seen first."""
        return sorted(self.children.values(), key=lambda node: -node.count)

    @property
    def own(self) -> int:
        """How often it was seen with nothing called from it."""
        return self.count - sum(node.count for node in self.children.values())


@dataclass(frozen=True)
class Share:
    """One function: the share of the looks that it was on the stack, and at its end. From 0 to 1."""

    frame: Frame
    total: float
    own: float


def tree_of(stacks: Iterable[Stack], *, threads: bool = True) -> Node:
    """All stacks as one tree; below the root first the processes and, with `threads`, their threads."""
    root = Node("all")
    for stack in stacks:
        head = [f"PID {stack.pid}", *([stack.thread] if threads and stack.thread else [])]
        node = root
        node.count += stack.count
        for label in (*head, *map(str, stack.frames)):
            node = node.child(label)
            node.count += stack.count
    return root


def shares(stacks: Iterable[Stack]) -> list[Share]:
    """The share of each function, over all given stacks together, those that take most by themselves first."""
    chosen = list(stacks)
    everything = sum(stack.count for stack in chosen) or 1
    totals: dict[tuple[str, str], int] = {}
    own: dict[tuple[str, str], dict[int, int]] = {}
    for stack in chosen:
        for key in {(frame.function, frame.file) for frame in stack.frames}:
            totals[key] = totals.get(key, 0) + stack.count
        if stack.frames:
            last = stack.frames[-1]
            lines = own.setdefault((last.function, last.file), {})
            lines[last.line] = lines.get(last.line, 0) + stack.count
    found = [
        Share(Frame(*key, max(own.get(key, {0: 0}).items(), key=lambda one: one[1])[0]), count / everything, sum(own.get(key, {}).values()) / everything)
        for key, count in totals.items()
    ]
    return sorted(found, key=lambda share: (-share.own, -share.total))


def text_tree(root: Node, *, least: float = 0.03, lines: int = 40) -> list[str]:
    """Frames with at least this share of their process's looks, indented by depth, the heaviest first."""
    found: list[str] = []
    for process in root.heaviest():
        found += [f"  {share:>4.0%}  {'  ' * depth}{node.label}" for node, depth, share in _walk(process, 0, process.count, least)]
    return found[:lines] + ([f"        … {len(found) - lines} more"] if len(found) > lines else [])


def _walk(node: Node, depth: int, whole: int, least: float) -> Iterator[tuple[Node, int, float]]:
    """A node and its heavy descendants; a chain of only children is not indented any deeper."""
    yield node, depth, node.count / whole
    heavy = [child for child in node.heaviest() if child.count >= least * whole]
    for child in heavy:
        yield from _walk(child, depth + (1 if len(heavy) > 1 or depth == 0 else 0), whole, least)


def flame_svg(root: Node, title: str) -> str:
    """The tree as a flame graph, callers at the top; every box tells its share when pointed at."""
    boxes = list(_boxes(root, 0.0, WIDTH, 0, root.count or 1))
    tall = 30 + ROW * (1 + max((depth for depth, *_ in boxes), default=0)) + 10
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{tall}" viewBox="0 0 {WIDTH} {tall}" font-family="monospace" font-size="11">',
        f'<rect width="{WIDTH}" height="{tall}" fill="#ffffff"/>',
        f'<text x="6" y="18" font-size="14" font-family="sans-serif">{escape(_plain(title))}</text>',
        *(_box(*box) for box in boxes),
    ]
    return "\n".join([*parts, "</svg>", ""])


def _boxes(node: Node, x: float, width: float, depth: int, whole: int) -> Iterator[tuple[int, float, float, str, float]]:
    if width < NARROWEST:
        return
    yield depth, x, width, node.label, node.count / whole
    for child in sorted(node.children.values(), key=lambda one: one.label):
        wide = width * child.count / (node.count or 1)
        yield from _boxes(child, x, wide, depth + 1, whole)
        x += wide


def _box(depth: int, x: float, width: float, label: str, share: float) -> str:
    y = 30 + depth * ROW
    plain = _plain(label)
    room = int((width - 4) / CHARACTER)
    shown = plain if len(plain) <= room else plain[: room - 1] + "…" if room > 2 else ""
    text = f'<text x="{x + 3:.1f}" y="{y + 13}">{escape(shown)}</text>' if shown else ""
    box = f'<rect x="{x:.1f}" y="{y}" width="{max(width - 0.5, 0.5):.1f}" height="{ROW - 1}" fill={quoteattr(_colour(plain))}/>'
    return f"<g><title>{escape(f'{plain}: {share:.1%}')}</title>{box}{text}</g>"


def _colour(label: str) -> str:
    """A warm colour that is always the same for the same frame."""
    number = zlib.crc32(label.encode("utf-8", "replace"))
    return f"rgb({215 + number % 40},{110 + (number >> 8) % 100},{50 + (number >> 16) % 50})"


def _plain(text: str) -> str:
    """Text without the control characters that XML forbids."""
    return "".join(character if character >= " " else "?" for character in text)

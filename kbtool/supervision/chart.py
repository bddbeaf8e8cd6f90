"""A series of numbers drawn: with block characters for a terminal, and as SVG."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from xml.sax.saxutils import escape

BLOCKS = " ▁▂▃▄▅▆▇█"
"""Nothing to a full cell, in eighths."""

WIDTH, HEIGHT, GAP, LEFT = 760, 110, 46, 70
"""Of one chart in the SVG, in pixels: its plot, the space between two, and the room for its scale."""


@dataclass(frozen=True)
class Chart:
    """One series: times in seconds, values from 0 to `top`."""

    title: str
    unit: str
    points: tuple[tuple[float, float], ...]
    top: float


def squeeze(values: Sequence[float], width: int) -> list[float]:
    """At most `width` values: each the highest of those that fall together, so that no peak is lost."""
    if len(values) <= width:
        return list(values)
    edges = [round(at * len(values) / width) for at in range(width + 1)]
    return [max(values[begin:end]) for begin, end in zip(edges, edges[1:], strict=False)]


def draw(values: Sequence[float], top: float, height: int) -> list[str]:
    """`height` lines of block characters, highest first; each value is one column, full at `top`."""
    eighths = [round(min(max(value / top, 0.0), 1.0) * height * 8) if top else 0 for value in values]
    return ["".join(BLOCKS[min(max(count - row * 8, 0), 8)] for count in eighths) for row in reversed(range(height))]


def svg_of(charts: Sequence[Chart], title: str) -> str:
    """All charts below one another as an SVG document; it loads nothing from anywhere."""
    tall = GAP + len(charts) * (HEIGHT + GAP)
    wide = LEFT + WIDTH + 20
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{wide}" height="{tall}" viewBox="0 0 {wide} {tall}" font-family="sans-serif" font-size="12">',
        f'<rect width="{wide}" height="{tall}" fill="#ffffff"/>',
        f'<text x="{LEFT}" y="20" font-size="14" font-weight="bold">{escape(title)}</text>',
    ]
    for number, chart in enumerate(charts):
        parts += _chart(chart, GAP + number * (HEIGHT + GAP))
    return "\n".join([*parts, "</svg>", ""])


def _chart(chart: Chart, y: int) -> list[str]:
    last = max((at for at, _ in chart.points), default=0.0) or 1.0
    line = " ".join(f"{LEFT + at / last * WIDTH:.1f},{y + HEIGHT - min(value / (chart.top or 1.0), 1.0) * HEIGHT:.1f}" for at, value in chart.points)
    return [
        f'<text x="{LEFT}" y="{y - 6}">{escape(chart.title)}</text>',
        f'<rect x="{LEFT}" y="{y}" width="{WIDTH}" height="{HEIGHT}" fill="none" stroke="#bbbbbb"/>',
        f'<text x="{LEFT - 6}" y="{y + 10}" text-anchor="end">{chart.top:g} {escape(chart.unit)}</text>',
        f'<text x="{LEFT - 6}" y="{y + HEIGHT}" text-anchor="end">0</text>',
        f'<text x="{LEFT + WIDTH}" y="{y + HEIGHT + 14}" text-anchor="end">{last:.0f} s</text>',
        f'<polyline points="{line}" fill="none" stroke="#1f6fb4" stroke-width="1.5"/>',
    ]

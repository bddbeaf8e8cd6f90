"""The growth curve of `scale.py` as SVG: both axes logarithmic, one line a way of asking."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

WIDTH, HEIGHT, LEFT, RIGHT, BOTTOM, TOP = 760, 430, 70, 210, 50, 20
COLOURS = ("#1f5fa8", "#c2571a", "#3f8f4f", "#1f5fa8", "#8a8a8a", "#9a4fa0")
Points = Sequence[tuple[int, float]]


def picture(lines: Mapping[str, Points], dashed: frozenset[str]) -> str:
    """The curves by their names; those of programs, start included, are `dashed`."""
    sizes = sorted({size for points in lines.values() for size, _ in points})
    values = [value for points in lines.values() for _, value in points]
    floor, roof = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    low, high = math.log10(sizes[0]), math.log10(max(sizes[-1], 10 * sizes[0]))

    def across(size: float) -> float:
        return LEFT + (math.log10(size) - low) / (high - low) * (WIDTH - LEFT - RIGHT)

    def up(value: float) -> float:
        return HEIGHT - BOTTOM - (math.log10(value) - floor) / max(1, roof - floor) * (HEIGHT - BOTTOM - TOP)

    grid = "".join(
        f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{up(10**power):.1f}" y2="{up(10**power):.1f}" stroke="#ddd"/>'
        f'<text x="{LEFT - 8}" y="{up(10**power) + 4:.1f}" text-anchor="end">{10**power:g} ms</text>'
        for power in range(floor, roof + 1)
    )
    ticks = "".join(f'<text x="{across(size):.1f}" y="{HEIGHT - BOTTOM + 20}" text-anchor="middle">{size:,}</text>' for size in sizes)
    drawn = "".join(_line(name, points, at, name in dashed, [(across(size), up(value)) for size, value in points]) for at, (name, points) in enumerate(lines.items()))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="12">'
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/><g fill="#444">{grid}{ticks}'
        f'<text x="{(LEFT + WIDTH - RIGHT) / 2}" y="{HEIGHT - 10}" text-anchor="middle">entries in the base</text></g>{drawn}</svg>\n'
    )


def _line(name: str, points: Points, at: int, dashed: bool, places: list[tuple[float, float]]) -> str:
    colour = COLOURS[at % len(COLOURS)]
    dash = ' stroke-dasharray="5 4"' if dashed else ""
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
    labels = "".join(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3"/><text x="{x:.1f}" y="{y - 7:.1f}" text-anchor="middle" font-size="10">{value:.3g}</text>' for (x, y), (_, value) in zip(places, points, strict=True))
    return (
        f'<g fill="{colour}"><polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"{dash}/>{labels}'
        f'<text x="{WIDTH - RIGHT + 15}" y="{TOP + 20 + 20 * at}">{"- - " if dashed else "— "}{name}</text></g>'
    )

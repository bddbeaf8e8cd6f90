"""`kb match --explain`: what was looked at, what was left out, and how the answer came about."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kbtool.cli.render import safe_line, styled
from kbtool.knowledge.redaction import redact
from kbtool.matching.answer import Scored
from kbtool.matching.confidence import RANKING
from kbtool.matching.report import Report

SHOWN = 3
TOKENS = 14
LINES = 12


def explanation_json(report: Report, candidates: Sequence[Scored]) -> dict[str, Any]:
    """What decided: the lines by weight, those left out, and each candidate's features with what they add to its rating."""
    return {
        "lines": [{"line": line.number, "kind": line.kind.value, "weight": round(line.weight, 2), "text": _clean(line.text)} for line in _weighty(report)],
        "masked": [{"line": line.number, "kind": line.kind.value} for line in report.lines if line.weight == 0 and line.text][:LINES],
        "candidates": [_candidate(item, candidates[0].rating) for item in candidates[:SHOWN]],
    }


def _candidate(item: Scored, best: float) -> dict[str, Any]:
    weights = item.comparison.weights
    found = {token for tokens in item.comparison.found.values() for token in tokens}
    return {
        "id": item.record.id,
        "score": round(item.probability, 4),
        "rating": round(item.rating, 2),
        "behind": round(best - item.rating, 2),
        "found": [[token, round(weights[token], 1)] for token in sorted(found, key=lambda one: -weights.get(one, 0.0)) if token in weights][:TOKENS],
        "missing": [[token, round(weight, 1)] for token, weight in sorted(weights.items(), key=lambda one: -one[1]) if token not in found][:TOKENS],
        "features": {
            name: [round(value, 2), round(value * RANKING.get(name, 0.0), 2)] for name, value in item.comparison.features.items() if round(value, 2)
        },
    }


def _weighty(report: Report) -> list[Any]:
    return sorted(sorted(report.lines, key=lambda line: -line.weight)[:LINES], key=lambda line: line.number)


def _clean(text: str) -> str:
    return redact(text[:300]).text


def print_explanation(report: Report, candidates: Sequence[Scored]) -> None:
    """The same for a person."""
    data = explanation_json(report, candidates)
    print(styled("\nWhy", "bold"))
    print("lines that count, by kind and weight:")
    for line in data["lines"]:
        print(f"  {line['line']:>6} {line['kind']:<10}{line['weight']:>5.2f}  {safe_line(line['text'][:110])}")
    if data["masked"]:
        print("left out as advice or structure: lines " + ", ".join(str(line["line"]) for line in data["masked"]))
    for place, one in enumerate(data["candidates"]):
        margin = "" if place == 0 else f", {one['behind']:g} behind the first"
        print(f"\n{safe_line(one['id'])}: score {one['score']:g}, rating {one['rating']:g}{margin}")
        print("  found   " + safe_line("  ".join(f"{token} {weight:g}" for token, weight in one["found"])))
        print("  missing " + safe_line("  ".join(f"{token} {weight:g}" for token, weight in one["missing"])))
        print("  rating  " + "  ".join(f"{name} {value:g} → {added:+g}" for name, (value, added) in one["features"].items() if added))

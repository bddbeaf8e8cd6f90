"""Fitting the calibration to labelled cases: a logistic model with few coefficients, drawn towards the shipped ones.

Newton's method in plain Python: ten coefficients and some hundred cases need no library. The cases of every cause are also asked with
that cause's entries left out: what is then first is wrong, and nothing teaches caution better.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from kbtool.durable import write_atomically
from kbtool.matching.answer import Scored, scored
from kbtool.matching.confidence import LEAD_CAP, SHIPPED, Calibration, calibration_path
from kbtool.matching.evaluation import UNRELATED, Case
from kbtool.matching.index import Index
from kbtool.matching.report import report_text

PULL = 4.0
"""How many cases the shipped coefficients are worth."""
LEFT_OUT = 0.1
"""Weight of a case asked without its own entry."""
LEAST_CASES = 20
TARGET = 0.95
"""Precision that `strong` shall have."""
ROUNDS = 30


@dataclass(frozen=True)
class Sample:
    """One first answer: its features with rating and lead, whether it was right, and its weight."""

    values: Mapping[str, float]
    right: bool
    weight: float = 1.0


def samples(cases: Sequence[Case], index: Index) -> list[Sample]:
    """First answers of all cases but the unrelated ones, and of those with their own entry left out."""
    found = []
    for case in cases:
        if case.kind == UNRELATED:
            continue
        candidates = scored(report_text(case.text), index)
        if candidates:
            found.append(_sample(candidates, case, 1.0))
        others = [item for item in candidates if item.record.id not in case.right]
        if others and len(others) < len(candidates):
            found.append(_sample(others, case, LEFT_OUT))
    return found


def _sample(candidates: Sequence[Scored], case: Case, weight: float) -> Sample:
    first = candidates[0]
    lead = first.rating - candidates[1].rating if len(candidates) > 1 else LEAD_CAP
    values = {**first.comparison.features, "rating": first.rating, "lead": min(LEAD_CAP, lead)}
    return Sample(values, first.record.id in case.right, weight)


def fit(given: Sequence[Sample], start: Calibration = SHIPPED) -> Calibration:
    """The calibration that fits the samples, drawn towards `start`; `strong` is set where precision reaches its target."""
    names = list(start.weights)
    begin = [start.bias, *start.weights.values()]
    rows = [[1.0, *(sample.values[name] for name in names)] for sample in given]
    current = list(begin)
    for _ in range(ROUNDS):
        step = _newton_step(rows, given, current, begin)
        current = [value + change for value, change in zip(current, step, strict=True)]
        if max(map(abs, step)) < 1e-7:
            break
    fitted = Calibration(current[0], dict(zip(names, current[1:], strict=True)), start.floor, start.strong)
    return Calibration(fitted.bias, fitted.weights, fitted.floor, _strong_from(given, fitted))


def _newton_step(rows: Sequence[Sequence[float]], given: Sequence[Sample], current: Sequence[float], begin: Sequence[float]) -> list[float]:
    size = len(current)
    gradient = [-PULL * (value - first) for value, first in zip(current, begin, strict=True)]
    hessian = [[PULL if at == other else 0.0 for other in range(size)] for at in range(size)]
    for row, sample in zip(rows, given, strict=True):
        exponent = sum(value * weight for value, weight in zip(row, current, strict=True))
        chance = 1.0 / (1.0 + math.exp(-max(-30.0, min(30.0, exponent))))
        error, spread = sample.weight * (sample.right - chance), sample.weight * chance * (1.0 - chance)
        for at in range(size):
            gradient[at] += error * row[at]
            for other in range(size):
                hessian[at][other] += spread * row[at] * row[other]
    return _solve(hessian, gradient)


def _solve(matrix: list[list[float]], right: list[float]) -> list[float]:
    """Gaussian elimination with pivots; the matrix is positive definite."""
    size = len(right)
    rows = [[*matrix[at], right[at]] for at in range(size)]
    for at in range(size):
        pivot = max(range(at, size), key=lambda row: abs(rows[row][at]))
        rows[at], rows[pivot] = rows[pivot], rows[at]
        for below in range(at + 1, size):
            factor = rows[below][at] / rows[at][at]
            rows[below] = [value - factor * above for value, above in zip(rows[below], rows[at], strict=True)]
    solution = [0.0] * size
    for at in reversed(range(size)):
        known = sum(rows[at][other] * solution[other] for other in range(at + 1, size))
        solution[at] = (rows[at][size] - known) / rows[at][at]
    return solution


def _strong_from(given: Sequence[Sample], calibration: Calibration) -> float:
    """The lowest score from which on the answers' precision stays at the target; the shipped one where it is never reached."""
    scores = sorted(((calibration.probability(one.values, one.values["rating"], one.values["lead"]), one.right) for one in given if one.weight == 1.0), reverse=True)
    best, right = None, 0
    for count, (score, good) in enumerate(scores, 1):
        right += good
        if count >= LEAST_CASES and right / count >= TARGET:
            best = score
    return round(best, 4) if best is not None else max(calibration.strong, 0.95)


def save(calibration: Calibration, roots: Sequence[Path]) -> Path:
    """Keep the calibration for these bases, outside of them; returns where. Raises OSError."""
    path = calibration_path(roots)
    path.parent.mkdir(parents=True, exist_ok=True)
    data = {"bias": calibration.bias, "weights": dict(calibration.weights), "floor": calibration.floor, "strong": calibration.strong}
    write_atomically(path, (json.dumps(data, indent=2) + "\n").encode())
    return path

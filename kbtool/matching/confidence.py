"""From features to a probability: the ranking's weights and the calibration, both a table that `kb eval --calibrate` makes anew.

The rating of a candidate is a weighted sum of its features. The probability that it is right follows from its rating, its lead over the
best other candidate, and how much of the failure's own message it leaves unexplained.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from kbtool.model import Confidence

RANKING: Mapping[str, float] = {
    "coverage": 2.0,
    "message": 2.0,
    "explained": 0.7,
    "explained_line": 0.5,
    "phrase": 1.0,
    "type_same": 0.5,
    "type_other": -0.3,
    "information": 0.2,
    "salient_missing": -0.5,
    "context": 0.5,
    "frames": 0.3,
    "code_other": -0.5,
    "line_weight": 0.2,
    "lookalike": -1.0,
}
"""Weight of each feature in the order of the answers."""


@dataclass(frozen=True)
class Calibration:
    """Coefficients of the logistic model over a candidate's features; `floor` and `strong` are probabilities."""

    bias: float
    weights: Mapping[str, float]
    floor: float
    strong: float


CALIBRATION = Calibration(bias=-5.0, weights={"rating": 1.3, "lead": 0.6}, floor=0.06, strong=0.93)


def rate(features: Mapping[str, float]) -> float:
    """The rating that orders candidates."""
    return sum(weight * features[name] for name, weight in RANKING.items())


def probability(features: Mapping[str, float], rating: float, lead: float, calibration: Calibration = CALIBRATION) -> float:
    """The probability of being right; `lead` is the rating minus that of the best other candidate."""
    values = {**features, "rating": rating, "lead": max(-3.0, min(3.0, lead))}
    exponent = calibration.bias + sum(weight * values[name] for name, weight in calibration.weights.items())
    return 1.0 / (1.0 + math.exp(-max(-30.0, min(30.0, exponent))))


def confidence(score: float, *, draft: bool, calibration: Calibration = CALIBRATION) -> Confidence:
    """The label; a draft is never strong."""
    return Confidence.STRONG if score >= calibration.strong and not draft else Confidence.POSSIBLE

"""From features to a probability: the ranking's weights, the calibration, and what must hold before anything is answered at all.

The rating of a candidate is a weighted sum of its features. The probability that it is right follows from its rating, its lead over the
best other candidate, and how its decisive line stands to the input, word by word. Both tables were fitted on labelled cases, with the causes in folds;
`kb eval --calibrate` makes the second one anew for a base of one's own.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from kbtool import settings
from kbtool.model import Confidence

RANKING: Mapping[str, float] = {
    "explained": 1.92,
    "phrase": 3.22,
    "type_other": -0.4,
    "information": 0.85,
    "salient_missing": -2.33,
    "title": 5.27,
    "code_other": -1.37,
    "line_weight": 1.0,
    "key_missing": -1.81,
    "key_worst": -0.5,
    "frames_elsewhere": -0.4,
    "key_extra_known": -1.21,
    "key_information": 0.04,
    "key_primary": 0.25,
    "salient_information": 0.76,
    "context_information": 0.43,
    "key_in_order": -1.45,
    "phase": 0.1,
    "lookalike": -1.0,
}
"""Weight of each feature in the order of the answers. The last two were set by hand: the labelled cases hold nothing about them."""

LEAD_CAP = 3.0
"""A longer lead says no more."""

PROBABILITY: Mapping[str, float] = {
    "rating": 0.15,
    "lead": 0.6,
    "key_in_order": 0.63,
    "key_worst": -1.28,
    "key_fallout": -1.2,
    "key_reordered": -2.98,
    "elsewhere_unexplained": -0.9,
    "frames_elsewhere": -1.11,
    "alternatives": -0.5,
    "key_everyday": -3.3,
    "lookalike": -4.0,
}
"""Weight of each feature in the probability of being right. The last two were set by hand: the labelled cases hold nothing about them."""


class Calibration(NamedTuple):
    """Coefficients of the logistic model of being right; `floor` and `strong` are probabilities."""

    bias: float = -0.9
    weights: Mapping[str, float] = PROBABILITY
    floor: float = 0.02
    strong: float = 0.895

    def probability(self, features: Mapping[str, float], rating: float, lead: float) -> float:
        """The probability of being right; `lead` is the rating minus that of the best other candidate."""
        values = {**features, "rating": rating, "lead": max(-LEAD_CAP, min(LEAD_CAP, lead))}
        exponent = self.bias + sum(weight * values[name] for name, weight in self.weights.items())
        return 1.0 / (1.0 + math.exp(-max(-30.0, min(30.0, exponent))))

    def label(self, score: float, *, draft: bool) -> Confidence:
        """The label of a score; a draft is never strong."""
        return Confidence.STRONG if score >= self.strong and not draft else Confidence.POSSIBLE


SHIPPED = Calibration()

LEAST_BITS = 2.6
"""Logarithm of the bits that the decisive line must share where the input shows no failure or does not speak of deep learning."""

GRIP: Mapping[tuple[bool, bool], float] = {
    (True, True): 0.1,
    (True, False): 1.4,
    (False, True): 1.9,
    (False, False): 2.6,
}
"""(the input shows a failure, it speaks of deep learning) → the grip a candidate needs: bits of its decisive line less twice the missing share.

A healthy log and another trade's failure are answered only where a symptom stands in them nearly word for word.
"""


def grip(features: Mapping[str, float]) -> float:
    """How firmly a symptom's decisive line holds on to the input."""
    return features["key_information"] - 2.0 * features["key_missing"]


WHOLE, WHOLE_BITS = 0.85, 1.3
"""A symptom that stands in the input as a whole is answered however short it is, if it has a word that tells anything."""
EXCEPTION_RATING = 0.9
"""The rating from which on a candidate is answered for any input with an exception of Python's kind."""
LEAST_RATING = -0.1
"""Below this rating nothing is answered: what was found is outweighed by what is missing."""
HEALTHY_MISSING = 0.5
"""Where nothing shows a failure, more than this share of the decisive line may not be missing."""


def plausible(features: Mapping[str, float], *, troubled: bool, at_home: bool, excepted: bool) -> bool:
    """True when a candidate may be answered at all for such an input; `excepted`: it names an exception type."""
    rating = rate(features)
    if excepted and rating >= EXCEPTION_RATING:
        return True
    if rating < LEAST_RATING or (not troubled and features["key_missing"] > HEALTHY_MISSING):
        return False
    if troubled and features["coverage"] >= WHOLE and features["key_information"] >= WHOLE_BITS:
        return True
    if not (troubled and at_home) and features["key_information"] < LEAST_BITS:
        return False
    return grip(features) >= GRIP[troubled, at_home]


def rate(features: Mapping[str, float]) -> float:
    """The rating that orders candidates, from the text alone."""
    return sum([weight * features[name] for name, weight in RANKING.items()])


def calibration_path(roots: Sequence[Path]) -> Path:
    """Where the calibration of a person's own bases lies."""
    return settings.data_folder() / "calibration" / ("+".join(settings.place_key(root) for root in roots) + ".json")


def load_calibration(roots: Sequence[Path]) -> Calibration:
    """The calibration of these bases, or the shipped one where there is none or it can not be read."""
    try:
        with open(calibration_path(roots), encoding="utf-8") as file:
            data = json.load(file)
        weights = {str(name): float(value) for name, value in data["weights"].items() if name in SHIPPED.weights}
        return Calibration(float(data["bias"]), weights, float(data["floor"]), float(data["strong"]))
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return SHIPPED

#!/usr/bin/env python3
"""Fit the weights of the ranking and of the probability to labelled cases, and say how good they are on causes they have not seen.

    python benchmarks/fit_weights.py --cases DIR [--cases DIR ...] [--learn] [--folds 5] [--repeats 2]

Every cause of a folder becomes an entry of a temporary base; its cases are asked, near misses and unrelated texts too (`kb eval --help`
describes the files; a cause also holds title, domain, symptom, root_cause, verify and fix). The causes are dealt into folds: weights
fitted without a fold are asked on it. Needs numpy.

Ranking: the logarithm of the right entry's share of exp(rating) among the candidates, with a quadratic pull of `RANKING_PULL` on
standardised weights; of an entry's wordings the one with the highest rating counts, so weights and choice are renewed in turn.
Probability: logistic regression on the first answers, near misses included, drawn towards the shipped weights by `SHIPPED_PULL`.
"""

from __future__ import annotations

import argparse
import os
import random
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from kbtool.knowledge.layers import Base
from kbtool.matching import confidence, learning
from kbtool.matching.answer import gathered
from kbtool.matching.index import Index, open_index
from kbtool.matching.report import report_text
from kbtool.matching.score import FEATURES, comparisons

RANKING_PULL, SHIPPED_PULL = 10.0, 20.0
NEWTON_STEPS, RENEWALS = 15, 3
BY_HAND = frozenset({"phase", "lookalike", "key_everyday"})
"""The cases tell nothing about these: their weights stay as they are."""
RANKED = [name for name in confidence.RANKING if name not in BY_HAND]
LIKELY = [name for name in confidence.PROBABILITY if name not in BY_HAND]
SHARES = (0.5, 0.55, 0.6)
"""Shares of the cases answered strong for which precision and strong near misses are printed."""

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Question:
    """A text asked of the base: `group` is its cause (for the folds), `candidates` are ids with one row of features a wording."""

    kind: str
    group: str
    right: frozenset[str]
    candidates: list[tuple[str, Array]]


def entry_text(cause: dict[str, Any]) -> str:
    """A cause as an entry's file."""
    verify = " ".join(str(cause["verify"]).split("\n")).strip() or "true"
    parts = (("Symptom", f"~~~~text\n{cause['symptom'].rstrip()}\n~~~~"), ("Root cause", cause["root_cause"].strip()), ("Verify", f"~~~~sh\n{verify}\n~~~~"), ("Fix", cause["fix"].strip()))
    return f"---\nstatus: active\n---\n\n# {' '.join(cause['title'].split())}\n\n" + "\n\n".join(f"## {name}\n\n{text}" for name, text in parts) + "\n"


def read_cases(folder: Path) -> tuple[list[dict[str, Any]], list[tuple[str, dict[str, Any]]]]:
    """The causes, and the negatives with their kind."""
    causes, negatives = [], []
    for path in sorted(folder.rglob("*.yaml")):
        document = yaml.safe_load(path.read_text(encoding="utf-8"))
        if isinstance(document, dict):
            causes.append(document)
        else:
            negatives += [("unrelated" if "unrelated" in path.name else "near", item) for item in document]
    return causes, negatives


def ask(folder: Path, root: Path, *, learn: bool) -> list[Question]:
    """All texts of a folder, asked of a base made of its causes; with `learn` the first case of causes with three is taught instead."""
    causes, negatives = read_cases(folder)
    for cause in causes:
        home = root / cause["domain"]
        home.mkdir(parents=True, exist_ok=True)
        (home / "README.md").write_text(f"# {cause['domain']}\n", encoding="utf-8")
        (home / f"{cause['slug']}.md").write_text(entry_text(cause), encoding="utf-8")
    bases = [Base(root, "chosen", True)]
    for cause in causes if learn else []:
        if len(cause["cases"]) >= 3:
            learning.learn(cause["slug"], cause["cases"].pop(0)["text"], bases)
    index = open_index(bases)
    asked = [question("case", c["slug"], frozenset({c["slug"], *c.get("accept", ())}), case["text"], index) for c in causes for case in c["cases"]]
    asked += [question(kind, str(item.get("looks_like") or item["source"]), frozenset(), item["text"] or "", index) for kind, item in negatives]
    index.close()
    return asked


def question(kind: str, group: str, right: frozenset[str], text: str, index: Index) -> Question:
    """The features of every candidate's wordings."""
    query, records, base = gathered(report_text(text), index)
    rows = ((record.id, [[one.features[name] for name in FEATURES] for one in comparisons(query, record.profile, base)]) for record in records)
    return Question(kind, group, right, [(entry, np.array(features)) for entry, features in rows])


def vector(weights: dict[str, float]) -> Array:
    """Weights in the order of FEATURES."""
    return np.array([weights.get(name, 0.0) for name in FEATURES])


def shipped_ranking() -> Array:
    """The weights that kb ranks with."""
    return vector(dict(confidence.RANKING))


def best_rows(asked: Question, weights: Array) -> Array:
    """Of every candidate the wording that is rated highest."""
    return np.array([rows[int(np.argmax(rows @ weights))] for _, rows in asked.candidates])


def order(asked: Question, weights: Array) -> list[tuple[float, str, Array]]:
    """Rating, id and features of the candidates, best first."""
    rows = best_rows(asked, weights) if asked.candidates else []
    rated = [(float(row @ weights), entry, row) for (entry, _), row in zip(asked.candidates, rows, strict=True)]
    return sorted(rated, key=lambda one: (-one[0], one[1]))


def fit_ranking(questions: Sequence[Question]) -> Array:
    """Weights that make the right entry's share largest, those of BY_HAND as shipped."""
    usable = [one for one in questions if any(entry in one.right for entry, _ in one.candidates)]
    at = [FEATURES.index(name) for name in RANKED]
    weights = shipped_ranking()
    for _ in range(RENEWALS):
        tables = [(best_rows(one, weights), np.array([entry in one.right for entry, _ in one.candidates])) for one in usable]
        spread = np.concatenate([table[:, at] for table, _ in tables]).std(0) + 1e-6
        pull = RANKING_PULL * np.diag(spread**2)
        for _ in range(NEWTON_STEPS):
            gradient, curvature = -pull @ weights[at], pull.copy()
            for table, right in tables:
                values = table[:, at]
                share = _softmax(table @ weights)
                wanted = share * right / (share @ right + 1e-300)
                mean = share @ values
                gradient += (wanted - share) @ values
                curvature += (values * share[:, None]).T @ values - np.outer(mean, mean)
            step = np.linalg.solve(curvature, gradient)
            weights[at] += step * min(1.0, 2.0 / np.abs(step).max())
            if np.abs(step).max() < 1e-3:
                break
    return weights


def _softmax(ratings: Array) -> Array:
    raised = np.exp(ratings - ratings.max())
    return raised / raised.sum()


def samples(questions: Sequence[Question], weights: Array) -> tuple[Array, Array, Array]:
    """Of the first answers to cases and near misses: what the probability looks at, the part set by hand, and whether each is right."""
    rows, fixed, right = [], [], []
    for one in questions:
        ranked = order(one, weights)
        if one.kind == "unrelated" or not ranked:
            continue
        lead = ranked[0][0] - ranked[1][0] if len(ranked) > 1 else confidence.LEAD_CAP
        values = {**dict(zip(FEATURES, ranked[0][2], strict=True)), "rating": ranked[0][0], "lead": min(confidence.LEAD_CAP, lead)}
        rows.append([1.0, *(values[name] for name in LIKELY)])
        fixed.append(sum(confidence.PROBABILITY[name] * values[name] for name in BY_HAND if name in confidence.PROBABILITY))
        right.append(ranked[0][1] in one.right)
    return np.array(rows), np.array(fixed), np.array(right, float)


def fit_probability(questions: Sequence[Question], weights: Array) -> Array:
    """Bias and coefficients of LIKELY."""
    rows, fixed, right = samples(questions, weights)
    start = np.array([confidence.SHIPPED.bias, *(confidence.PROBABILITY[name] for name in LIKELY)])
    pull = np.diag([0.01] + [SHIPPED_PULL] * len(LIKELY))
    current = start.copy()
    for _ in range(NEWTON_STEPS):
        chance = _logistic(rows @ current + fixed)
        curvature = (rows * (chance * (1 - chance))[:, None]).T @ rows + pull
        current += np.linalg.solve(curvature, rows.T @ (right - chance) - pull @ (current - start))
    return current


def _logistic(exponents: Array) -> Array:
    return 1.0 / (1.0 + np.exp(-np.clip(exponents, -30, 30)))


def places(questions: Sequence[Question], weights: Array) -> tuple[int, int]:
    """How often the right entry is first, and among the first three, before the question whether to answer at all."""
    first = third = 0
    for one in questions:
        if one.kind == "case":
            ids = [entry for _, entry, _ in order(one, weights)[:3]]
            first += bool(ids) and ids[0] in one.right
            third += any(entry in one.right for entry in ids)
    return first, third


def strong_points(judged: Sequence[tuple[float, bool, str]], cases: int, near: int) -> str:
    """Precision and share of strong near misses where `strong` begins so that SHARES of the cases are answered strong and right."""
    told = []
    for share in SHARES:
        good = wrong_near = 0
        for count, (_, right, kind) in enumerate(sorted(judged, reverse=True), 1):
            good += right
            wrong_near += kind == "near"
            if good >= share * cases:
                told.append(f"{share:.2f} strong: precision {good / count:.3f}, near {wrong_near / max(1, near):.3f}")
                break
    return "; ".join(told)


def judged(questions: Sequence[Question], ranking: Array, probability: Array) -> list[tuple[float, bool, str]]:
    """Chance, rightness and kind of the first answers."""
    asked = [one for one in questions if one.kind != "unrelated" and one.candidates]
    rows, fixed, right = samples(asked, ranking)
    return [(float(chance), bool(good), one.kind) for chance, good, one in zip(_logistic(rows @ probability + fixed), right, asked, strict=True)]


def cross_validate(questions: Sequence[Question], folds: int, repeats: int) -> None:
    """Print the figures of weights that have not seen the causes they are asked about."""
    cases, near = (sum(one.kind == kind for one in questions) for kind in ("case", "near"))
    groups = sorted({one.group for one in questions})
    first = third = 0.0
    found: list[tuple[float, bool, str]] = []
    for seed in range(repeats):
        random.Random(seed).shuffle(groups)
        fold = {group: at % folds for at, group in enumerate(groups)}
        for part in range(folds):
            known = [one for one in questions if fold[one.group] != part]
            unseen = [one for one in questions if fold[one.group] == part]
            ranking = fit_ranking(known)
            one, three = places(unseen, ranking)
            first, third = first + one / repeats, third + three / repeats
            found += judged(unseen, ranking, fit_probability(known, ranking))
    print(f"fitted without the cause   first {first / cases:.4f}  among three {third / cases:.4f}")
    print(f"  {strong_points(found, cases * repeats, near * repeats)}")


def report(questions: Sequence[Question], folds: int, repeats: int) -> None:
    """Print all figures and the weights."""
    cases, near = (sum(one.kind == kind for one in questions) for kind in ("case", "near"))
    first, third = places(questions, shipped_ranking())
    likely = np.array([confidence.SHIPPED.bias, *(confidence.PROBABILITY[name] for name in LIKELY)])
    print(f"{cases} cases, {near} near misses")
    print(f"shipped weights            first {first / cases:.4f}  among three {third / cases:.4f}")
    print(f"  {strong_points(judged(questions, shipped_ranking(), likely), cases, near)}")
    cross_validate(questions, folds, repeats)
    ranking = fit_ranking(questions)
    probability = fit_probability(questions, ranking)
    print("\nranking                shipped   fitted")
    for name in RANKED:
        print(f"  {name:<22}{confidence.RANKING[name]:>6.2f}   {ranking[FEATURES.index(name)]:>6.2f}")
    print("probability            shipped   fitted")
    for name, was, value in zip(["bias", *LIKELY], likely, probability, strict=True):
        print(f"  {name:<22}{was:>6.2f}   {value:>6.2f}")


def main() -> None:
    """Read the arguments, ask all texts, report."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=Path, action="append", required=True, help="a folder of labelled cases; each makes a base of its own")
    parser.add_argument("--learn", action="store_true", help="also ask after one wording of each cause with three cases was taught")
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--repeats", type=int, default=2)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        for variable in ("CACHE", "DATA", "STATE", "CONFIG"):
            os.environ[f"XDG_{variable}_HOME"] = str(Path(name) / variable.lower())
        asked: list[Question] = []
        for number, folder in enumerate(given.cases):
            for learn in (False, True)[: 1 + given.learn]:
                asked += ask(folder, Path(name) / f"base-{number}-{learn}" / "entries", learn=learn)
    if not asked:
        parser.error("no cases")
    report(asked, given.folds, given.repeats)


if __name__ == "__main__":
    main()

"""Measuring matching on labelled cases: which entry should come first, what only looks like one, what nothing is known about.

Cases are YAML. A document is either a cause (`slug`, optional `accept`, `cases: [{source, text}]`) or a list of negatives
(`{source, text, looks_like, why_not}`): with `looks_like` or in a file named `…near…` a near miss, in a file named `…unrelated…` a text
that nothing may be answered for.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from kbtool.errors import KbError
from kbtool.matching.answer import answer_text
from kbtool.matching.index import Index
from kbtool.model import Answer, Confidence

CASE, NEAR, UNRELATED = "case", "near", "unrelated"
BINS = 10


@dataclass(frozen=True)
class Case:
    """A text and what is right for it: `right` are the entries that may come first, empty for negatives."""

    kind: str
    source: str
    text: str
    right: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Judged:
    """A case with its answer."""

    case: Case
    first: str | None
    score: float
    strong: bool
    place: int | None
    """Place of the first right entry, counted from 1."""

    @property
    def correct(self) -> bool:
        """True when the first answer is right."""
        return self.place == 1


@dataclass(frozen=True)
class Figures:
    """What `kb eval` reports; shares between 0 and 1, None where there were no cases of that kind."""

    cases: int
    near: int
    unrelated: int
    r1: float | None
    """The right entry is first."""
    r3: float | None
    """The right entry is among the first three."""
    strong: float | None
    """Share of the cases answered strong and right."""
    precision: float | None
    """Of all strong answers, the share that is right."""
    near_strong: float | None
    """Share of the near misses answered strong."""
    unrelated_answered: float | None
    """Share of the unrelated texts answered at all."""
    calibration_error: float | None
    """Mean distance between the first answer's score and how often such answers are right."""


FLOORS: dict[str, bool] = {
    "r1": True,
    "r3": True,
    "strong": True,
    "precision": True,
    "near_strong": False,
    "unrelated_answered": False,
    "calibration_error": False,
}
"""Figures that a bound can be set for, and whether more is better."""


def load_cases(root: Path) -> list[Case]:
    """The cases in a YAML file or below a folder. Raises KbError, naming the file, for one that holds something else."""
    files = [root] if root.is_file() else sorted(path for path in root.rglob("*.y*ml") if path.is_file())
    if not files:
        raise KbError(f"{root}: holds no labelled cases", hint="`kb eval --help` describes the YAML files")
    return [case for path in files for case in _load_file(path)]


def _load_file(path: Path) -> list[Case]:
    import yaml

    try:
        document = yaml.load(path.read_text(encoding="utf-8"), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
        if isinstance(document, dict):
            right = frozenset({str(document["slug"]), *map(str, document.get("accept") or ())})
            return [Case(CASE, str(case.get("source", path.name)), str(case["text"] or ""), right) for case in document.get("cases") or ()]
        kind = UNRELATED if "unrelated" in path.name else NEAR
        return [Case(kind, str(item.get("source", path.name)), str(item["text"] or "")) for item in document or ()]
    except (OSError, UnicodeDecodeError, yaml.YAMLError, KeyError, TypeError, AttributeError) as error:
        raise KbError(f"{path}: is no file of labelled cases: {error}", hint="`kb eval --help` describes the YAML files") from None


def judge(cases: Sequence[Case], index: Index, *, progress: Callable[[int, int], object] | None = None) -> list[Judged]:
    """Ask every case."""
    judged = []
    for done, case in enumerate(cases, 1):
        judged.append(_judged(case, answer_text(case.text, index)))
        if progress is not None:
            progress(done, len(cases))
    return judged


def _judged(case: Case, given: Answer) -> Judged:
    ids = [match.id for match in given.matches]
    place = next((at for at, entry in enumerate(ids, 1) if entry in case.right), None)
    first = given.matches[0] if given.matches else None
    strong = first is not None and first.confidence is Confidence.STRONG
    return Judged(case, first.id if first else None, first.score if first else 0.0, strong, place)


def figures(judged: Sequence[Judged]) -> Figures:
    """The figures of judged cases."""
    by_kind = {kind: [one for one in judged if one.case.kind == kind] for kind in (CASE, NEAR, UNRELATED)}
    cases, near, unrelated = by_kind[CASE], by_kind[NEAR], by_kind[UNRELATED]
    strong = [one for one in judged if one.strong]
    return Figures(
        cases=len(cases),
        near=len(near),
        unrelated=len(unrelated),
        r1=_share(sum(one.correct for one in cases), len(cases)),
        r3=_share(sum(one.place is not None and one.place <= 3 for one in cases), len(cases)),
        strong=_share(sum(one.strong and one.correct for one in cases), len(cases)),
        precision=_share(sum(one.correct for one in strong), len(strong)),
        near_strong=_share(sum(one.strong for one in near), len(near)),
        unrelated_answered=_share(sum(one.first is not None for one in unrelated), len(unrelated)),
        calibration_error=calibration_error(judged),
    )


def _share(part: int, whole: int) -> float | None:
    return round(part / whole, 4) if whole else None


@dataclass(frozen=True)
class Bin:
    """Answers whose score lies in one tenth: how many, their mean score, the share that was right."""

    low: float
    count: int
    score: float
    right: float


def reliability(judged: Sequence[Judged]) -> list[Bin]:
    """The reliability table over all first answers."""
    answered = [one for one in judged if one.first is not None]
    bins = []
    for place in range(BINS):
        inside = [one for one in answered if min(BINS - 1, int(one.score * BINS)) == place]
        if inside:
            count = len(inside)
            bins.append(Bin(place / BINS, count, sum(one.score for one in inside) / count, sum(one.correct for one in inside) / count))
    return bins


def calibration_error(judged: Sequence[Judged]) -> float | None:
    """The expected calibration error over ten bins."""
    bins = reliability(judged)
    total = sum(one.count for one in bins)
    return round(sum(one.count * abs(one.score - one.right) for one in bins) / total, 4) if total else None


def result(found: Figures, judged: Sequence[Judged]) -> dict[str, Any]:
    """What `kb eval --json` prints and `--compare` reads again: the figures, and the place and label of every case."""
    cases = [{"source": one.case.source, "kind": one.case.kind, "first": one.first, "place": one.place, "strong": one.strong, "score": one.score} for one in judged]
    return {"schema": 1, "figures": asdict(found), "cases": cases}


def changes(before: dict[str, Any], judged: Sequence[Judged]) -> list[tuple[str, str, str]]:
    """Cases that are better or worse than in an earlier result: source, what it was, what it is. Raises KbError for another file."""
    try:
        old = {(case["source"], case["kind"]): case for case in before["cases"]}
        found = []
        for one in judged:
            was = old.get((one.case.source, one.case.kind))
            if was is not None and (was["first"], was["strong"]) != (one.first, one.strong):
                found.append((one.case.source, _told(was["first"], was["strong"]), _told(one.first, one.strong)))
        return found
    except (KeyError, TypeError):
        raise KbError("this is no result of `kb eval --json`", hint="`kb eval CASES --json > before.json` makes one") from None


def _told(first: str | None, strong: bool) -> str:
    return f"{first or 'nothing'}{' (strong)' if strong else ''}"


def missed_floors(found: Figures, bounds: dict[str, float]) -> list[str]:
    """Sentences about the figures that miss their bounds. Raises KbError for a name that is no figure."""
    missed = []
    for name, bound in bounds.items():
        if name not in FLOORS:
            raise KbError(f"`{name}` is no figure", hint="figures are " + ", ".join(FLOORS))
        value = getattr(found, name)
        if value is not None and (value < bound if FLOORS[name] else value > bound):
            missed.append(f"{name} is {value:g}, {'below' if FLOORS[name] else 'above'} {bound:g}")
    return missed

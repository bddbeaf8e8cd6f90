"""Four steps for a failure nobody knows: anchor it, locate its domain, verify the smallest hypothesis, converge or go back.

The state is plain data that survives between invocations. One rule is held, not advised: after two refuted hypotheses in a row no third
one is taken before the anchor was written again.
"""

from __future__ import annotations

import datetime
import json
import os
import re
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from enum import Enum
from pathlib import Path

from kbtool.errors import KbError
from kbtool.knowledge.keywords import locate_domain
from kbtool.model import Domain, Verdict
from kbtool.verification.environment import Fingerprint

AIM_MINUTES = 20
"""A triage should have found the domain and tried its first hypotheses by then."""

STOP_AFTER = 2
"""Refuted hypotheses in a row that force a step back."""

GIT_SECONDS = 5.0
MOST_CHANGES = 20

VARIABLES = re.compile(r"CUDA_|NCCL_|GLOO_|TORCH_|PYTORCH_|OMP_|MKL_|HF_HOME|HF_HUB_|TRANSFORMERS_|TOKENIZERS_|RANK$|WORLD_SIZE$|LOCAL_RANK$|MASTER_|SLURM_JOB|LD_LIBRARY_PATH$|LD_PRELOAD$|PYTHONPATH$|TMPDIR$|ROCM_|HIP_|ASCEND_|XLA_")
"""Variables that belong into the baseline of an environment."""

SECRETS = re.compile(r"TOKEN|KEY|SECRET|PASS", re.IGNORECASE)


class Step(str, Enum):
    """Where a triage stands."""

    ANCHOR = "anchor"
    LOCATE = "locate"
    VERIFY = "verify"
    BACK = "back"
    CONVERGED = "converged"
    CLOSED = "closed"


@dataclass(frozen=True)
class Anchor:
    """The three sentences: what is observed, under which condition it reproduces (and under which not), the environment's baseline."""

    observed: str = ""
    condition: str = ""
    environment: str = ""

    @property
    def missing(self) -> list[str]:
        """The sentences that are not written yet."""
        return [name for name, text in asdict(self).items() if not text.strip()]


@dataclass(frozen=True)
class Hypothesis:
    """What might be the cause, the smallest check that can prove it wrong, and what it said."""

    text: str
    check: str = ""
    verdict: str | None = None
    reason: str = ""
    anchor: int = 0
    """Which of the anchors it was made on."""


@dataclass(frozen=True)
class Triage:
    """The state: anchors (the last one holds), the domain, hypotheses in their order."""

    anchors: tuple[Anchor, ...] = (Anchor(),)
    domain: str | None = None
    hypotheses: tuple[Hypothesis, ...] = ()
    seen_verdict: int = 0
    """The newest verdict of the journal that is counted already."""
    ended: str = ""

    @property
    def anchor(self) -> Anchor:
        """The anchor that holds."""
        return self.anchors[-1]

    @property
    def refuted_in_a_row(self) -> int:
        """Refuted hypotheses since the last confirmed one or the last anchor."""
        count = 0
        for hypothesis in reversed(self.hypotheses):
            if hypothesis.anchor != len(self.anchors) - 1 or hypothesis.verdict == Verdict.CONFIRMED.value:
                break
            count += hypothesis.verdict == Verdict.REFUTED.value
        return count

    @property
    def step(self) -> Step:
        """What is to be done next."""
        if self.ended:
            return Step.CLOSED
        if self.anchor.missing:
            return Step.ANCHOR
        if self.refuted_in_a_row >= STOP_AFTER:
            return Step.BACK
        if any(hypothesis.verdict == Verdict.CONFIRMED.value for hypothesis in self.hypotheses):
            return Step.CONVERGED
        return Step.LOCATE if self.domain is None else Step.VERIFY

    @property
    def open_hypothesis(self) -> Hypothesis | None:
        """The hypothesis whose check has not answered yet."""
        return next((each for each in reversed(self.hypotheses) if each.verdict is None), None)


def to_json(triage: Triage) -> str:
    """The state as it is kept."""
    return json.dumps(asdict(triage), ensure_ascii=False)


def from_json(text: str) -> Triage:
    """The state in a text that `to_json` made; one that can not be read is a new one."""
    try:
        value = json.loads(text)
        anchors = tuple(Anchor(**anchor) for anchor in value["anchors"]) or (Anchor(),)
        hypotheses = tuple(Hypothesis(**each) for each in value["hypotheses"])
        return Triage(anchors, value["domain"], hypotheses, value["seen_verdict"], value["ended"])
    except (ValueError, TypeError, KeyError):
        return Triage()


def baseline(here: Fingerprint, environment: Mapping[str, str]) -> str:
    """The environment in one sentence: versions, devices, and the variables that matter."""
    named = [f"{name}={value}" for name, value in sorted(environment.items()) if VARIABLES.match(name) and not SECRETS.search(name) and len(value) < 200]
    return "; ".join([here.short(), *named])


def anchored(triage: Triage, given: Anchor) -> Triage:
    """The triage with what was given of its anchor. After a step back it is a new anchor, which must differ from the one that failed.

    Raises KbError when it does not.
    """
    told = {name: text.strip() for name, text in asdict(given).items() if text.strip()}
    if not told:
        return triage
    new = replace(triage.anchor, **told)
    if triage.step is not Step.BACK:
        return replace(triage, anchors=(*triage.anchors[:-1], new), domain=None if "observed" in told else triage.domain)
    if new == triage.anchor:
        raise KbError("the anchor says the same as before", hint="what else was different: the message, a variable nobody controlled, a version left out?")
    return replace(triage, anchors=(*triage.anchors, new), domain=None)


def located(triage: Triage, domains: Sequence[Domain], chosen: str | None = None) -> Triage:
    """The triage with its domain: the chosen one, else the one whose longest keyword stands in the anchor.

    Raises KbError for a domain that has no page.
    """
    if chosen is not None:
        if chosen not in {domain.name for domain in domains}:
            raise KbError(f"no domain is called `{chosen}`", hint=f"one of {', '.join(domain.name for domain in domains)}")
        return replace(triage, domain=chosen)
    if triage.domain is not None or triage.anchor.missing:
        return triage
    anchor = triage.anchor
    found = locate_domain(anchor.observed, domains) or locate_domain(anchor.condition, domains)
    return replace(triage, domain=found.name) if found else triage


def supposed(triage: Triage, text: str, check: str) -> Triage:
    """The triage with one more hypothesis. Raises KbError before the anchor is written, after two refutations, and while one is open."""
    if triage.anchor.missing:
        raise KbError(f"the anchor comes first; missing: {', '.join(triage.anchor.missing)}", hint="`kb triage --observed … --condition … --environment …`")
    if triage.step is Step.BACK:
        raise KbError(
            f"{triage.refuted_in_a_row} hypotheses in a row were refuted: step back before the next one", hint="write the anchor again: `kb triage --observed … --condition …`"
        )
    if triage.open_hypothesis is not None:
        raise KbError(f"`{triage.open_hypothesis.text}` is not decided yet", hint="`kb triage --result confirmed|refuted|inconclusive`")
    return replace(triage, hypotheses=(*triage.hypotheses, Hypothesis(text.strip(), check.strip(), anchor=len(triage.anchors) - 1)))


def decided(triage: Triage, verdict: Verdict, reason: str = "") -> Triage:
    """The triage with the open hypothesis decided. Raises KbError where none is open."""
    open_one = triage.open_hypothesis
    if open_one is None:
        raise KbError("no hypothesis waits for a result", hint='`kb triage --hypothesis "…" --check "…"`')
    at = len(triage.hypotheses) - 1 - triage.hypotheses[::-1].index(open_one)
    closed = replace(open_one, verdict=verdict.value, reason=reason)
    return replace(triage, hypotheses=(*triage.hypotheses[:at], closed, *triage.hypotheses[at + 1 :]))


def with_checks(triage: Triage, ran: Sequence[tuple[int, str, str, str]]) -> Triage:
    """The triage with checks of entries that ran meanwhile (`kb verify`): each is a hypothesis with its verdict."""
    made = tuple(Hypothesis(f"entry `{entry}`", f"kb verify {entry}", verdict, reason, len(triage.anchors) - 1) for _, entry, verdict, reason in ran)
    newest = max((row for row, *_ in ran), default=triage.seen_verdict)
    return replace(triage, hypotheses=(*triage.hypotheses, *made), seen_verdict=newest)


def minutes_since(begun: str, now: datetime.datetime) -> float:
    """Minutes since a time as the journal writes it."""
    try:
        then = datetime.datetime.strptime(begun, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=datetime.timezone.utc)
    except ValueError:
        return 0.0
    return max(0.0, (now - then).total_seconds() / 60)


def uncommitted(folder: Path) -> list[str]:
    """What `git status` shows in a folder: traces of experiments that may be undone. Empty outside of a repository; nothing is changed."""
    try:
        done = subprocess.run(
            ["git", "status", "--short"], cwd=folder, capture_output=True, timeout=GIT_SECONDS, stdin=subprocess.DEVNULL, env={**os.environ, "GIT_OPTIONAL_LOCKS": "0"}
        )
    except (OSError, subprocess.TimeoutExpired):
        return []
    lines = done.stdout.decode("utf-8", "replace").splitlines() if done.returncode == 0 else []
    return lines[:MOST_CHANGES] + ([f"and {len(lines) - MOST_CHANGES} more"] if len(lines) > MOST_CHANGES else [])

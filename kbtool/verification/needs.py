"""What must be there for a check to say anything: the `needs` of an entry, and its `applies_to`, held against a fingerprint."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from kbtool.knowledge.checks import FILE_NEED, NAMED_NEEDS, Need, parse_need
from kbtool.verification.environment import Fingerprint
from kbtool.verification.verdict import COMPARE
from kbtool.verification.versions import version_key

_REQUIREMENT = re.compile(r"([A-Za-z][\w.-]*)\s*((?:(?:<=|>=|==|!=|<|>)\s*[\w.+]+\s*,?\s*)*)")
_CLAUSE = re.compile(r"(<=|>=|==|!=|<|>)\s*([\w.+]+)")


def wanted(needs: Iterable[str]) -> list[str]:
    """The modules and commands among `needs`, which the environment must be asked for by name."""
    return [need for need in needs if need.partition(":")[0] in NAMED_NEEDS]


def unmet(needs: Iterable[str], here: Fingerprint) -> list[str]:
    """The needs that this place does not fulfil, as written. What is unknown counts as unmet: a check must not run on a guess.

    Files are no part of a place: `files.absent` looks for them in the folder of the check.
    """
    return [need for need in needs if not _met(parse_need(need), here)]


def _met(need: Need, here: Fingerprint) -> bool:
    if need.kind == FILE_NEED:
        return True
    if need.kind in NAMED_NEEDS:
        return bool(here.fact("wanted", f"{need.kind}:{need.name}"))
    value = FACTS[need.kind](here)
    if need.operator is None or need.version is None:
        return bool(value)
    if value is None or value is False:
        return False
    return COMPARE[need.operator](version_key(str(value)), version_key(need.version))


def _gpu_count(here: Fingerprint) -> int | None:
    gpus = here.fact("gpus")
    if gpus is None:
        return None
    return len(gpus)


def _cuda(here: Fingerprint) -> str | bool:
    """The CUDA that the driver can run; True where only a GPU is known."""
    return here.fact("cuda_driver", "cuda") or bool(here.fact("gpus"))


FACTS: dict[str, Callable[[Fingerprint], str | int | bool | None]] = {
    "linux": lambda here: here.fact("system", "os") == "linux",
    "macos": lambda here: here.fact("system", "os") == "macos",
    "windows": lambda here: here.fact("system", "os") == "windows",
    "torch": lambda here: here.fact("torch", "version"),
    "cuda": _cuda,
    "rocm": lambda here: here.fact("accelerators", "rocm"),
    "mps": lambda here: here.fact("accelerators", "mps"),
    "npu": lambda here: here.fact("accelerators", "npu"),
    "gpus": _gpu_count,
}
"""Where the answer to each one-word need stands."""


def mismatches(applies_to: Iterable[str], here: Fingerprint) -> list[str]:
    """Sentences on how this place differs from what an entry applies to; unknown packages and words are no difference."""
    versions = {"python": here.fact("python", "version"), **(here.fact("packages") or {})}
    if here.fact("torch", "version"):
        versions["torch"] = here.fact("torch", "version")
    found = []
    for item in applies_to:
        parts = _REQUIREMENT.fullmatch(item.strip())
        version = versions.get(parts.group(1)) if parts else None
        if parts is None or version is None:
            continue
        if not all(COMPARE[operator](version_key(version), version_key(bound)) for operator, bound in _CLAUSE.findall(parts.group(2))):
            found.append(f"the entry applies to {item}, and here is {parts.group(1)} {version}")
    return found

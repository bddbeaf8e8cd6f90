"""Whether a version lies outside of what an entry says it applies to."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable

_REQUIREMENT = re.compile(r"\s*([A-Za-z][\w-]*)\s*((?:(?:<=|>=|==|!=|<|>)\s*[\w.+]+\s*,?\s*)+)")
_CLAUSE = re.compile(r"(<=|>=|==|!=|<|>)\s*(\d+(?:\.\d+)*)")

_COMPARE: dict[str, Callable[[tuple[int, ...], tuple[int, ...]], bool]] = {
    "<=": operator.le,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    ">": operator.gt,
}


def outside(requirement: str, name: str, version: str) -> bool:
    """True when `requirement` (``torch>=1.7``, ``torch<2.6``) is about `name` and excludes `version`; one that can not be read excludes nothing."""
    found = _REQUIREMENT.fullmatch(requirement)
    here = _numbers(version)
    if not found or found.group(1).lower() != name or not here:
        return False
    return not all(_COMPARE[sign](_cut(here, _numbers(bound)), _numbers(bound)) for sign, bound in _CLAUSE.findall(found.group(2)))


def _numbers(version: str) -> tuple[int, ...]:
    found = re.match(r"\d+(?:\.\d+)*", version)
    return tuple(int(part) for part in found.group().split(".")) if found else ()


def _cut(here: tuple[int, ...], bound: tuple[int, ...]) -> tuple[int, ...]:
    """Compared as far as the bound goes: 2.6.1 is 2.6."""
    return (here + (0,) * len(bound))[: len(bound)]

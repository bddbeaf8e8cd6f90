"""Secrets and private places are taken out of a text before it is stored or shown to others.

The same text always gives the same result, and a second pass changes nothing. No marker inside the text switches a rule off.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from kbtool.knowledge.redaction_rules import RULES, Rule

PLACEHOLDER = re.compile(r"\[hidden:[a-z0-9-]+\]")
"""What stands where something was taken out."""


_KEYWORDS = tuple((keyword, place) for place, rule in enumerate(RULES) for keyword in rule.keywords)
"""Every keyword with its rule's place among the rules: most texts hold next to none of them."""


class Redacted(NamedTuple):
    """A text without its secrets, and what was replaced: pairs of rule name and the text it took out, in the order they were found."""

    text: str
    replacements: tuple[tuple[str, str], ...] = ()

    @property
    def changed(self) -> bool:
        """True when something was taken out."""
        return bool(self.replacements)


def redact(text: str) -> Redacted:
    """`text` without tokens, passwords, private keys, people's and machines' names, addresses and buckets.

    Hashes, ids, tensors, addresses in memory and times stay. Linear in the length of the text.
    """
    replaced: list[tuple[str, str]] = []
    lowered = text.lower()
    told = {place for keyword, place in _KEYWORDS if keyword in lowered}
    rules = [rule for place, rule in enumerate(RULES) if place in told or not rule.keywords]
    for rule in rules:
        if rule.spans_lines:
            text = _apply(rule, text, replaced)
    line_rules = [rule for rule in rules if not rule.spans_lines]
    lines = [_redact_line(line, line_rules, replaced) for line in text.split("\n")]
    return Redacted("\n".join(lines), tuple(replaced))


def preview(redacted: Redacted) -> list[str]:
    """What was taken out, one line a kind with its count: for the person who is about to save; the secrets themselves are not shown."""
    counts: dict[str, int] = {}
    for name, _ in redacted.replacements:
        counts[name] = counts.get(name, 0) + 1
    return [f"{name} ×{count}" if count > 1 else name for name, count in counts.items()]


def _may_apply(rule: Rule, lowered: str) -> bool:
    for keyword in rule.keywords:
        if keyword in lowered:
            return True
    return not rule.keywords


def _redact_line(line: str, rules: list[Rule], replaced: list[tuple[str, str]]) -> str:
    lowered = line.lower()
    for rule in rules:
        if _may_apply(rule, lowered):
            changed = _apply(rule, line, replaced)
            if changed is not line:
                line, lowered = changed, changed.lower()
    return line


def _apply(rule: Rule, text: str, replaced: list[tuple[str, str]]) -> str:
    parts: list[str] = []
    end = 0
    for found in rule.regex.finditer(text):
        start, stop = found.span("secret" if "secret" in found.re.groupindex and not rule.replacement else 0)
        if rule.accept is not None and not rule.accept(found):
            continue
        parts += (text[end:start], rule.replacement or f"[hidden:{rule.name}]")
        replaced.append((rule.name, text[start:stop]))
        end = stop
    return "".join((*parts, text[end:])) if parts else text


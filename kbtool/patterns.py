"""Patterns that cost a start nothing: compiled when a text first holds what they can not match without.

A start that meets no launcher's table, no advice and no progress bar compiles none of their shapes, and most lines are done with a
search for a literal, which is many times faster than a pattern.
"""

from __future__ import annotations

import re


class Pattern:
    """A regular expression with its `literals`: a text that holds none of them can not match. Without literals every text is tried."""

    __slots__ = ("_regex", "flags", "literals", "source")

    def __init__(self, source: str, *literals: str, flags: int = 0):
        self.source = source
        self.literals = literals or ("",)  # which every text holds
        self.flags = flags
        self._regex: re.Pattern[str] | None = None

    @property
    def regex(self) -> re.Pattern[str]:
        """The compiled pattern."""
        if self._regex is None:
            self._regex = re.compile(self.source, self.flags)
        return self._regex

    def search(self, text: str) -> re.Match[str] | None:
        """The first place where the pattern matches."""
        for literal in self.literals:  # here and below, and not in a method of its own: every line of a log is held against a dozen patterns
            if literal in text:
                return (self._regex or self.regex).search(text)
        return None

    def match(self, text: str) -> re.Match[str] | None:
        """A match at the beginning of `text`."""
        for literal in self.literals:
            if literal in text:
                return (self._regex or self.regex).match(text)
        return None

    def sub(self, replacement: str, text: str) -> str:
        """`text` with every match replaced."""
        for literal in self.literals:
            if literal in text:
                return self.regex.sub(replacement, text)
        return text


class Alternatives:
    """Patterns that are looked for as one, by those of them that a text may match: the others would be tried at each of its places."""

    __slots__ = ("_united", "patterns")

    def __init__(self, *patterns: Pattern):
        self.patterns = patterns
        self._united: dict[tuple[str, ...], Pattern] = {}

    def sub(self, replacement: str, text: str) -> str:
        """`text` with every match replaced."""
        held = [pattern.source for pattern in self.patterns for literal in pattern.literals if literal in text]
        if not held:
            return text
        likely = tuple(dict.fromkeys(held))
        if likely not in self._united:
            self._united[likely] = any_of(*likely)
        return self._united[likely].sub(replacement, text)


def any_of(*sources: str, literals: tuple[str, ...] = (), flags: int = 0) -> Pattern:
    """A pattern that matches where one of the `sources` does."""
    return Pattern("|".join(f"(?:{source})" for source in sources), *literals, flags=flags)

"""Which domain a text points to: the longest keyword of a domain page that stands in it. Free of parsers: on the path of every match."""

from __future__ import annotations

from collections.abc import Sequence

from kbtool.model import Domain


def locate_domain(text: str, domains: Sequence[Domain]) -> Domain | None:
    """The domain whose longest keyword stands in `text`, compared without case; None where no keyword does.

    Of two equally long keywords the one found first in the text wins. Keywords of letters and digits count as whole words only, so that `inf` is not
    found in `info`.
    """
    lowered = text.casefold()
    best: tuple[int, int] = (0, 0)
    winner: Domain | None = None
    for domain in domains:
        for keyword in domain.keywords:
            at = find_keyword(lowered, keyword.casefold())
            if at >= 0 and (len(keyword), -at) > best:
                best, winner = (len(keyword), -at), domain
    return winner


def find_keyword(text: str, keyword: str) -> int:
    """Position of `keyword` in `text` (both casefolded), as a whole word where its ends are ASCII letters or digits; -1 if absent."""
    at = text.find(keyword)
    while at >= 0:
        before, after = text[at - 1 : at], text[at + len(keyword) : at + len(keyword) + 1]
        if not (_joins(before, keyword[:1]) or _joins(keyword[-1:], after)):
            return at
        at = text.find(keyword, at + 1)
    return -1


def _joins(left: str, right: str) -> bool:
    return left.isascii() and right.isascii() and (left.isalnum() or left == "_") and (right.isalnum() or right == "_")

"""The eight domain pages that ship: complete, and of use in more than one language."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

ENTRIES = Path(__file__).resolve().parents[1] / "entries"
DOMAINS = ("data", "model", "training", "serving", "logging", "distributed", "environment", "hang")


def sections(text: str) -> dict[str, str]:
    """The page's second-level sections by heading."""
    parts = text.split("\n## ")[1:]
    return {part.split("\n", 1)[0].strip(): part.split("\n", 1)[1].strip() for part in parts}


def test_eight_domains_ship() -> None:
    """Every classic domain and the three added by practice has a page."""
    assert sorted(DOMAINS) == sorted(page.parent.name for page in ENTRIES.glob("*/README.md"))


@pytest.mark.parametrize("domain", DOMAINS)
def test_page_is_complete(domain: str) -> None:
    """A page has keywords, a first action, a check of at most three lines, and says when to go back."""
    text = (ENTRIES / domain / "README.md").read_text(encoding="utf-8")
    head = yaml.safe_load(text.split("---\n")[1])
    found = sections(text)

    assert len(head["keywords"]) >= 20
    assert all(isinstance(word, str) for word in head["keywords"])
    assert len(set(head["keywords"])) == len(head["keywords"])
    assert any(ord(char) > 0x3000 for word in head["keywords"] for char in word), "no keyword in an East Asian script"
    assert len(found["First action"]) > 80 and len(found["Go back when"]) > 80
    fence = found["Minimal check"].split("\n")
    assert fence[0] in ("```sh", "```python") and fence[-1] == "```" and 1 <= len(fence) - 2 <= 3


def test_no_keyword_leads_to_two_domains() -> None:
    """A keyword stands on one page only; which of two pages is meant could not be told."""
    owner: dict[str, str] = {}
    for domain in DOMAINS:
        text = (ENTRIES / domain / "README.md").read_text(encoding="utf-8")
        for word in yaml.safe_load(text.split("---\n")[1])["keywords"]:
            assert owner.setdefault(word.casefold(), domain) == domain, word

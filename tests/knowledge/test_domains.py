"""Domain pages: what they hold, and the decision table that is made from them."""

from __future__ import annotations

from pathlib import Path

import pytest

from kbtool.knowledge.domains import parse_domain
from kbtool.knowledge.keywords import locate_domain
from kbtool.knowledge.problems import EntryError
from kbtool.model import Domain

PAGE = "---\nkeywords: [NCCL, 显存不足, 'out of memory']\n---\n\n# D\n\n## First action\n\nLook.\n\n## Minimal check\n\n```sh\nnvidia-smi\n```\n\n## 何时回退\n\nLater.\n"


def test_a_page_is_read() -> None:
    """Keywords, first action, minimal check and the way back come out as written."""
    domain = parse_domain(PAGE.encode(), path=Path("/b/distributed/README.md"))

    assert (domain.name, domain.keywords) == ("distributed", ("NCCL", "显存不足", "out of memory"))
    assert (domain.first_action, domain.minimal_check, domain.go_back_when) == ("Look.", "nvidia-smi", "Later.")


def test_a_broken_page_is_an_error_at_its_line() -> None:
    """Broken front matter of a page is reported like an entry's."""
    with pytest.raises(EntryError, match=r"README.md:2: anchor"):
        parse_domain(b"---\nkeywords: &a [x]\n---\n", path=Path("/b/data/README.md"))


TABLE = [
    Domain("distributed", ("NCCL", "timeout"), ""),
    Domain("training", ("nan", "inf"), ""),
    Domain("serving", ("connection timeout", "500"), ""),
    Domain("data", ("显存不足",), ""),
]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("nccl timeout", "distributed"),
        ("a Connection Timeout of NCCL", "serving"),
        ("info: nanny took 1500 ms", None),
        ("loss is NaN", "training"),
        ("错误:显存不足。", "data"),
        ("HTTP 500", "serving"),
        ("nothing here", None),
    ],
)
def test_the_longest_keyword_wins(text: str, name: str | None) -> None:
    """The longest keyword found decides; words of letters and digits count as whole words only."""
    found = locate_domain(text, TABLE)

    assert (found.name if found else None) == name

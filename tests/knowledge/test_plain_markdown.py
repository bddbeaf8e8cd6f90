"""The quick reading of plain pages against the whole of CommonMark."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from kbtool.knowledge.plain_markdown import Block, plain_blocks

LINES = (
    *("# a", "## b #", "##", "#x", "## ", "####### s", "# h ###  ", "## h\\#", "#\tt", "\t# z", "  # y", "## `c` **d**", "# &amp; <b>", "## \u00a0x"),
    *("```", "````", "~~~", "``` sh `x", "```text", "~~~ a`b", "    ```", "  ```", "   ~~~", "- ```", "> ```", "1. ```", "``", "~~~~", "```  "),
    *("- a", "  b", "> q", "1. x", "+ # k", "- ## l", "> # m", "*** ", "===", "---", "- - -", ">", "-", "=", ":-"),
    *("<div>", "  <!-- c", "<b>x</b>", "| a | b |", "|---|---|", "a | b", "--|--", '[r]: u "t', "[f]:", "![i](u", "`code", "    code", "\ttab", "text", "", " ", "a\x0c", "x  "),
)
"""Lines that open, close, nest or interrupt a block, and lines that only look so."""


def by_markdown_it(page: str) -> list[Block]:
    tokens = MarkdownIt("commonmark").enable("table").parse(page)
    found = []
    for at, token in enumerate(tokens):
        if token.level == 0 and token.map is not None:
            if token.type == "heading_open":
                found.append(Block(int(token.tag[1]), tokens[at + 1].content, "", *token.map))
            elif token.type == "fence":
                found.append(Block(0, token.content.removesuffix("\n"), token.info.strip(), *token.map))
    return found


def alike(blocks: list[Block]) -> list[Block]:
    """Blanks in a heading mean nothing."""
    return [block._replace(text=" ".join(block.text.split())) if block.level else block for block in blocks]


@settings(max_examples=1500, deadline=None)
@given(st.lists(st.sampled_from(LINES), max_size=9), st.sampled_from(["", "\n", "\n\n"]))
def test_what_is_read_quickly_is_read_as_commonmark_reads_it(lines: list[str], end: str) -> None:
    """For any page that is taken for plain, headings, fences, their texts and their lines are markdown-it's."""
    page = "\n".join(lines) + end
    quick = plain_blocks(page)
    if quick is not None:
        assert alike(quick) == alike(by_markdown_it(page))


@pytest.mark.parametrize("page", ["# T\n\n## S\n\n```text\nx\n```\n", "# T\n\nprose with `code` and *stress*,\n- a list\n\n## S ##\n\n~~~\n# no heading\n~~~~\n", "", "prose"])
def test_pages_as_people_write_them_are_plain(page: str) -> None:
    """Headings, fences at the margin, prose and lists are read quickly."""
    blocks = plain_blocks(page)
    assert blocks is not None
    assert alike(blocks) == alike(by_markdown_it(page))


@pytest.mark.parametrize("page", ["T\n===\n", "| a | b |\n|---|---|\n| 1 | 2 |\n", "<div>\n# x\n</div>\n", "- ```\n  x\n  ```\n", "```\nopen", "# T\r\n"])
def test_what_could_mean_more_is_left_to_markdown_it(page: str) -> None:
    """An underlined heading, a table, HTML, a nested or unclosed fence, other line endings: not plain."""
    assert plain_blocks(page) is None

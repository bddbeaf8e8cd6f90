"""The quick reading of plain front matter against the whole of YAML."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kbtool.knowledge.frontmatter import FrontMatterError, parse
from kbtool.knowledge.plain_frontmatter import Value, plain_values

SCALARS = (
    *("a", "2.10", "no", "null", "~", "", "a b", "a, b", "x: y", "x:", "x:y", "file:*.py", "file:$D/*.csv|*.tsv", "a #b", "a#b", "#", "- a", "-a", "a - b", "?", "a ? b", "a:"),
    *("'a'", '"a"', "'a''b'", '"a\\n"', '"a" b', "'", '"', 'say "a"', "it's", "a'", "[a]", "a]", "[", "a, [b", "{a: b}", "a {b}", "}", "&a", "*a", "!a", "a & b", "|", ">", "a > 1", "%a", "@a", "`a`"),
    *("a ", " a", "a\t", "é", "显存 不足", "第一。", "a\u00a0b", "a\x85b", "a\u2028b", "\ufeffa", "a\x07", "😀 a", "''", '""', "a, 'b", "(?i)a|b", "a=b", "<<", "torch>=2.6", "a:'b'", "a: 'b'", "a\\b", "a::b", "::"),
)
"""Values that are plain, and values that mean more in YAML or only seem to."""
KEYS = ("tags", "needs", "confirms", "a", "a_b", "Tags", "a b", "1", "é", "'q'", "-", "no", "a:b", "")


@st.composite
def lines(draw: st.DrawFn) -> str:
    """One line of front matter, or of what strays into it."""
    values = draw(st.lists(st.sampled_from(SCALARS), min_size=1, max_size=3))
    value = draw(st.sampled_from(["{}", "[{}]", "[{}, ]", " {}", "[ {} ]"])).format(", ".join(values))
    return draw(st.sampled_from(KEYS)) + draw(st.sampled_from([": ", ":", ":  ", " : "])) + value


def by_yaml(text: str, monkeypatch: pytest.MonkeyPatch) -> dict[str, Value]:
    with monkeypatch.context() as changed:
        changed.setattr("kbtool.knowledge.frontmatter.plain_values", lambda text: None)
        return parse(text).values


@settings(max_examples=3000, deadline=None)
@given(st.lists(lines() | st.sampled_from(["", "  a", "- a", "---", "...", "# c", "%YAML 1.1", "? a"]), max_size=4), st.sampled_from(["\n", "\n\n", "", "\r\n"]))
def test_what_is_read_quickly_is_read_as_yaml_reads_it(held: list[str], end: str) -> None:
    """For any text that is taken for plain, keys, values, lines and spans are PyYAML's, and so is that there is nothing to refuse."""
    text = "\n".join(held) + end
    quick = plain_values(text)
    if quick:
        with pytest.MonkeyPatch.context() as monkeypatch:
            assert quick == by_yaml(text, monkeypatch)


@given(st.lists(st.text(st.characters(codec="utf-8"), max_size=12), max_size=3))
@settings(max_examples=1500, deadline=None)
def test_any_character_means_what_it_means_in_yaml(values: list[str]) -> None:
    """Whatever characters a value holds, alone or in a list: read quickly it is what PyYAML reads."""
    for text in (f"a: {''.join(values)}\n", f"a: [{', '.join(values)}]\n", f"a: b{''.join(values)}b\n"):
        quick = plain_values(text)
        if quick:
            with pytest.MonkeyPatch.context() as monkeypatch:
                assert quick == by_yaml(text, monkeypatch)


def test_front_matter_as_people_write_it_is_plain() -> None:
    """Values, lists, quotes, needs and conditions are read quickly."""
    text = "tags: [oom, \"batch size\", 显存]\nneeds: [linux, file:*.py, torch>=2.6]\nconfirms: stdout contains np.\nfamily: 'allocation'\napplies_to: []\n"
    values = plain_values(text)
    assert values is not None
    assert [value.value for value in values.values()] == [["oom", "batch size", "显存"], ["linux", "file:*.py", "torch>=2.6"], "stdout contains np.", "allocation", []]


@pytest.mark.parametrize("text", ["a: b: c\n", "a: b #c\n", "a: *b\n", "a: b\na: c\n", "a:\n  - b\n", "a: |\n  b\n", "a: b\n  c\n", "a: 'b''c'\n", "a: b\r\n", "a: b"])
def test_what_could_mean_more_is_left_to_yaml(text: str) -> None:
    """A mapping, a comment, an alias, a repeated key, blocks, lines that go on, escapes, other line endings: not plain."""
    assert plain_values(text) is None


def test_a_repeated_key_is_refused_as_before() -> None:
    """What is left to YAML is refused by YAML's reading, with its line."""
    with pytest.raises(FrontMatterError, match="stands twice") as refused:
        parse("a: b\na: c\n")
    assert refused.value.line == 1

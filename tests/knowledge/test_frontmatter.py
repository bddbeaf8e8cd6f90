"""Front matter: strings stay strings, and what YAML can hide behind is refused at its line."""

from __future__ import annotations

import time

import pytest

from kbtool.knowledge.frontmatter import SIZE_LIMIT, FrontMatterError, parse


@pytest.mark.parametrize("written", ["2.10", "no", "on", "012", "12:30:45", "1e3", "~", "null", "0x10", "2026-11-30", "'quoted'", '"double"'])
def test_scalars_stay_what_was_written(written: str) -> None:
    """No scalar is converted: versions, times and words of YAML 1.1 stay text."""
    assert parse(f"key: {written}\n").values["key"].value == written.strip("'\"")


def test_lists_in_both_styles() -> None:
    """A list may be written in one line or in many."""
    front = parse("tags: [a, 'b c']\nneeds:\n  - linux\n  - command:df\n")

    assert front.values["tags"].value == ["a", "b c"]
    assert front.values["needs"].value == ["linux", "command:df"]


def test_spans_point_at_the_value() -> None:
    """The marks of a value cut exactly its text out of the front matter."""
    text = 'a: x\nstatus: "active"  # why\nb: [1, 2]\n'
    front = parse(text)

    assert text[front.values["status"].start : front.values["status"].end] == '"active"'
    assert text[front.values["b"].start : front.values["b"].end] == "[1, 2]"
    assert front.values["status"].line == 1


@pytest.mark.parametrize("text", ["", "\n\n", "# only a comment\n"])
def test_empty_front_matter_has_no_keys(text: str) -> None:
    """Nothing between the lines is no error."""
    assert parse(text).values == {}


BOMB = "a: &a [x, x]\n" + "".join(f"b{i}: &b{i} [*a, *a]\n" for i in range(20))

REFUSED = {
    "anchor": ("a: 1\nb: &x 2\n", 1, "anchor"),
    "alias": ("a: *x\n", 0, "alias"),
    "alias bomb": (BOMB, 0, "anchor"),
    "merge key with alias": ("<<: *x\n", 0, "alias"),
    "python tag": ("a: 1\nb: !!python/object/apply:os.system [ls]\n", 1, "tag"),
    "own tag": ("a: !thing 1\n", 0, "tag"),
    "duplicate key": ("a: 1\nb: 2\na: 3\n", 2, "twice"),
    "a list": ("- a\n- b\n", 0, "mapping"),
    "a scalar": ("just text\n", 0, "mapping"),
    "two documents": ("a: 1\n---\nb: 2\n", 1, "more than one"),
    "broken flow": ("a: [1, 2\nb: 3\n", 1, "not valid YAML"),
    "tab indentation": ("a:\n\t- b\n", 1, "not valid YAML"),
    "200 000 brackets": ("a: " + "[" * 60_000 + "\n", 0, ""),
    "deep mapping": ("a: " + "{b: " * 900 + "\n", 0, ""),
    "list of mappings": ("a: [{b: 1}]\n", 0, "plain values"),
    "key that is a list": ("[a, b]: 1\n", 0, "plain word"),
    "larger than the limit": ("a: " + "x" * SIZE_LIMIT + "\n", 0, "larger than"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused_at_its_line(name: str) -> None:
    """What the format does not allow is refused with the line it stands in, quickly whatever its size."""
    text, line, word = REFUSED[name]
    begun = time.process_time()

    with pytest.raises(FrontMatterError) as caught:
        parse(text)

    assert word in caught.value.message
    assert caught.value.line == line
    assert time.process_time() - begun < 2

"""Patterns that are compiled when they are first needed find what they would find if they were tried on every line."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from kbtool.matching import prefixes, report, signs, tokens
from kbtool.patterns import Alternatives, Pattern, any_of

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"

LINES = tuple(
    line for path in sorted(EXAMPLES.glob("*.txt")) for line in path.read_text(encoding="utf-8", errors="replace").splitlines()
) + (
    "  ^^^^^^^^",
    "--> 12     x = f(y)",
    "    at org.example.Main.run(Main.java:12)",
    "#3 0x00007f in raise",
    "WARNING:root:low disk",
    "W0412 07:11:02.123456 11 x.cc:3] slow",
    "W1234",
    "I0412 07:11:02.123456 11 x.cc:3] fine",
    "Exception in thread Thread-1:",
    "An error occurred while generating the dataset",
    "Assertion `x < y` failed.",
    "node-1 | 2026-01-02 03:04:05 hello",
    "0%|          | 0/100 [00:00<?, ?it/s]RuntimeError: boom",
    "[=======>      ] ETA: 00:12",
    "100%|",
    *("step 3/90 loss 0.5", "steps: 3 lr", "epoch [3/90] time 2", "iter 3 acc1", "iteration 7 eta 3", "batch 3 map"),
    *("{'loss': 1}", "{'train_loss': 1}", "loss: 0.25"),
    *(f"3 {unit}" for unit in ("it/s", "s/it", "tok/s", "samples/s", "batch/s", "s/batch", "tokens/s", "img/s", "s/step", "ms/step")),
    "in c:/a/b, d:\\a\\b",
)

PATTERNS = {
    **{name: value for module in (signs, report, tokens) for name, value in vars(module).items() if isinstance(value, Pattern)},
    **{f"progress {place}": pattern for place, pattern in enumerate((*signs.PROGRESS, *signs.PROGRESS_BAR.patterns))},
    **{f"prefix {prefix.name}": prefix.pattern for prefix in prefixes.PREFIXES},
    **{f"{shape.source}: {shape.pattern.literals[0]}": shape.pattern for shape in (*signs.ADVICE, *signs.FALLOUT)},
}


@pytest.mark.parametrize("name", PATTERNS)
def test_literals_hide_no_match(name: str) -> None:
    """No line that a pattern matches lacks its literals."""
    pattern = PATTERNS[name]
    hidden = [line for line in LINES if pattern.regex.search(line) and not pattern.search(line)]

    assert hidden == []


@pytest.mark.parametrize("prefix", prefixes.PREFIXES, ids=lambda prefix: prefix.name)
def test_first_characters_hide_no_prefix(prefix: prefixes.Prefix) -> None:
    """No line that carries a prefix begins with a character that its row does not name."""
    hidden = [line for line in LINES if line and prefix.pattern.regex.match(line) and not prefixes.Believed([prefix])[line[0]]]

    assert hidden == []


@pytest.mark.parametrize("text", ["ab1", "b1", "a1", "c", "a1 b1 a2", "b1 a1"])
def test_alternatives_are_replaced_as_one_pattern_would(text: str) -> None:
    """Whichever of them a text may match, the result is that of all of them together."""
    both = Alternatives(Pattern(r"a\d?(?: b\d)?", "a"), Pattern(r"b\d(?: a\d)?", "b"))
    assert both.sub("-", text) == re.sub(r"a\d?(?: b\d)?|b\d(?: a\d)?", "-", text)


def test_it_is_compiled_where_it_may_match() -> None:
    """A text without the literal compiles nothing; one with it is searched."""
    pattern = Pattern(r"a(\d)", "a")

    assert pattern.search("b1") is None and pattern._regex is None
    assert pattern.sub("-", "b1") == "b1" and pattern._regex is None
    found = pattern.match("a1")
    assert found is not None and found[1] == "1"
    assert pattern.match("ba1") is None


def test_one_of_several_is_enough() -> None:
    """An alternative matches on its own, with the flags of all."""
    either = any_of("^one$", "two", flags=re.IGNORECASE)

    assert either.search("ONE") and either.search("x two y") and not either.search("one more")

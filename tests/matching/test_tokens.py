"""What a line says, as tokens."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kbtool.matching import tokens as module
from kbtool.matching.tokens import cut, fixed_tokens, token_set, tokens, words

PIECES = (
    *("a", "abc", "Errno", "error", "camelCase", "HTTPError", "sm_90", "_", "__a", "x1f", "abc3", "Abc12def", "deadbee1", "S"),
    *("5", "28", "-9", "2.10", "5-6", "a-5", "a.5", "v1.2.3", "5_", "_5", "3abc", "1e5", "0x", "0x1f", "403 Forbidden", "500", " Not"),
    *(".", "..", "-", "--", "--opt", "--1", " ", "  ", "\n", "\t", "\r", "\x0b", "\x1c", "\x85", "(", "[", "#", "=", "'", '"', "<", ">", ":", ",", ";", "é", "显存"),
)
"""What names, numbers and what stands between them may be made of."""


@settings(max_examples=4000, deadline=None)
@given(st.lists(st.sampled_from(PIECES), max_size=10).map("".join) | st.text(st.characters(max_codepoint=0x7F), max_size=20))
def test_every_way_of_cutting_gives_the_same(text: str) -> None:
    """What is told apart by blanks is what the pattern finds, in the same order; and a set of tokens holds the same."""
    held: list[str] = []
    phrase: list[str] = []
    module._cut_by_pattern(text, held, phrase)

    assert cut(text) == (held, phrase)
    assert token_set(text) == set(held)


@pytest.mark.parametrize(
    ("line", "held"),
    [
        ("[Errno 28] No space", {"errno#28", "errno", "space"}),
        ("failed (exitcode: -9)", {"exitcode#-9"}),
        ("got signal: 1", {"signal#1"}),
        ("401 Client Error", {"http#401"}),
        ("Unsupported operand 118", {"operand#118"}),
        ("--local-rank=0", {"--local-rank", "local", "rank"}),
        ("embed_tokens.weight", {"embed_token", "embed", "token", "weight"}),
        ("HeaderTooLarge", {"headertoolarge", "header", "large"}),
        ("workers", {"worker"}),
        ("显存不足", {"显存", "存不", "不足"}),
    ],
)
def test_a_line_holds_its_tokens(line: str, held: set[str]) -> None:
    """Codes with their word, options whole and in parts, names whole and in parts, plurals as singulars, CJK as pairs."""
    assert held <= set(tokens(line))


@pytest.mark.parametrize("noise", ["0x7f3c2a1d50", "a1b2c3d4e5f60718", "12345", "the of and"])
def test_noise_has_no_tokens(noise: str) -> None:
    """Addresses, hashes, bare numbers and empty words tell nothing."""
    assert tokens(noise) == []


def test_words_are_a_phrase_without_numbers_and_parts() -> None:
    """What phrases are made of."""
    assert words("got input size torch.Size([1, 512])") == ["got", "input", "size", "torch", "size"]


def test_what_stands_in_quotes_and_paths_is_not_fixed() -> None:
    """A message's fixed words are those it has whatever it is about."""
    assert fixed_tokens("cannot import name 'cached_download' from /opt/py/lib/site.py [1, two]") == {"import", "name", "cannot"}

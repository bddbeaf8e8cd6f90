"""What a line says, as tokens."""

from __future__ import annotations

import pytest

from kbtool.matching.tokens import fixed_tokens, tokens, words


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

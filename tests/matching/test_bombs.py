"""Texts made to be slow to compare: large, alike, repetitive. Whoever wrote the entry or the log, a question stays a question."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator

import pytest

from kbtool.knowledge.layers import Base
from kbtool.matching.answer import answer_text
from kbtool.matching.index import Index, open_index
from tests.conftest import build_base

KIB, MIB = 1 << 10, 1 << 20


_LETTERS = bytes(b"etaoinshrdlucmfw eta\ninshrdl"[value % 26] for value in range(256))


def _words(size: int) -> str:
    return random.Random(size).randbytes(size).translate(_LETTERS).decode("ascii")


SHAPES: dict[str, Callable[[int], str]] = {
    "one letter": lambda size: "a" * size,
    "one word": lambda size: ("error " * (size // 6 + 1))[:size],
    "two words in turn": lambda size: ("tensor error " * (size // 13 + 1))[:size],
    "one error over and over": lambda size: ("RuntimeError: shape mismatch\n" * (size // 29 + 1))[:size],
    "errors that all differ": lambda size: "\n".join(f"RuntimeError: shape {n} mismatch of tensor_{n}" for n in range(size // 44 + 1))[:size],
    "frames that all differ": lambda size: "\n".join(f'  File "/x/m{n}.py", line {n}, in f{n}' for n in range(size // 36 + 1))[:size],
    "random words": _words,
    "brackets": lambda size: "[" * (size // 2) + "]" * (size // 2),
    "a wide JSON": lambda size: "{" + ", ".join(f'"key{n}": "Error {n}"' for n in range(size // 22 + 1))[: size - 2] + "}",
    "characters without blanks": lambda size: ("显存不足训练失败" * (size // 8 + 1))[:size],
}
SIZES = ((KIB, 10 * MIB), (64 * KIB, 64 * KIB), (64 * KIB, MIB), (256 * KIB, 256 * KIB), (MIB, 64 * KIB))
"""Characters of the symptom and of the input. Ten shapes on either side make fifty pairs of likes, and fifty with the next shape."""
SECONDS = 1.0
"""Processor time that one question may take."""


def entry(symptom: str) -> str:
    """An entry with that symptom."""
    return f"---\nconfirms: exit zero\n---\n\n# Too much of it\n\n## Symptom\n\n```text\nRuntimeError: shape mismatch in a bomb\n{symptom}\n```\n\n## Root cause\n\nSomebody pasted it all.\n\n## Verify\n\n```sh\ntrue\n```\n"


@pytest.fixture(scope="module", params=SIZES, ids=lambda sizes: f"{sizes[0] >> 10}-{sizes[1] >> 10}")
def bombed(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Index, int]]:
    """A base with a bomb of every shape, and the size of the input."""
    symptom, size = request.param
    root = build_base(tmp_path_factory.mktemp("bombs") / "entries", {f"data/bomb-{at}": entry(make(symptom)) for at, make in enumerate(SHAPES.values())})
    index = open_index([Base(root, "chosen", writable=True)])
    yield index, size
    index.close()


@pytest.mark.parametrize("following", [False, True], ids=["alike", "crossed"])
@pytest.mark.parametrize("shape", SHAPES)
def test_a_question_about_a_bomb_ends_soon(bombed: tuple[Index, int], shape: str, following: bool) -> None:
    """A hundred pairs of a large symptom and a large input, alike and crossed: each is answered within a second of processor time."""
    index, size = bombed
    names = list(SHAPES)
    text = "RuntimeError: shape mismatch in a bomb\n" + SHAPES[names[(names.index(shape) + following) % len(names)]](size)
    begun = time.process_time()
    answer_text(text, index)

    took = time.process_time() - begun
    assert took < SECONDS

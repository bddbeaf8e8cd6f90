from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from kbtool.knowledge.layers import Base
from kbtool.matching.answer import answer_text
from kbtool.matching.index import open_index
from kbtool.matching.query import make_query
from kbtool.matching.rephrasing import anchors_in, families, other_words, prepared, recognised
from kbtool.matching.report import report_text
from tests.conftest import build_base

TEXTS = [text for family in families() for text in family.texts]


def said(line: str) -> list[str]:
    return [text for text, _ in recognised(line, "", anchors_in(line))]


@pytest.mark.parametrize("text", TEXTS)
def test_every_text_of_the_table_is_recognised_in_itself(text: str) -> None:
    """A text is found in itself, and is more than a single everyday word."""
    assert len(prepared(text).needed) > 1 or prepared(text).codes
    assert text in said(text)


@pytest.mark.parametrize("line", ["TARGETS are out of bounds", "Target is out of bounds", "MyTarget is out of bounds"])
def test_only_what_a_word_begins_with_is_sought(line: str) -> None:
    """A text is sought where its anchor begins a word as it is spelt, and nowhere else: no other line could have its words."""
    assert ("Target" in anchors_in(line)) == line.startswith("Target")


def test_a_family_has_other_words_to_offer() -> None:
    """Every family says who prints it and holds at least two texts, none twice."""
    for family in families():
        assert family.source
        assert len(set(family.texts)) == len(family.texts) > 1


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("RuntimeError: stack expects each tensor to be equal size, but got [3, 4] at entry 0 and [3, 9] at entry 1", "RuntimeError: stack expects each tensor to be equal size"),
        ("Loss.cu:250: block: [0,0,0], thread: [7,0,0] Assertion `t >= 0 && t < n_classes` failed.", "Assertion `t >= 0 && t < n_classes` failed"),
        ("  exitcode  : -9 (pid: 4711)", "exitcode : -9"),
        ("stack expects each tensor to be equal size", "RuntimeError: stack expects each tensor to be equal size"),
    ],
)
def test_a_text_is_recognised_with_what_varies_and_without_its_type(line: str, text: str) -> None:
    """Numbers and shapes between its words, a prefix and a missing exception type leave a text what it is."""
    assert text in said(line)


@pytest.mark.parametrize(
    "line",
    [
        "  exitcode  : -11 (pid: 4711)\n never exitcode : -90",
        "the input of the worker ran out of time",
        "ValueError: expected input[1, 1, 100, 100] to have 3 channels; the job ran for 1800 s and timed out",
        "step 100: stack of 3 tensors, each of equal size",
    ],
)
def test_the_same_words_in_another_order_or_with_another_number_are_not_the_text(line: str) -> None:
    """A text is its words in their order with their numbers: others are no failure of its family."""
    assert not [text for text in said(line) if "-9" in text or "Ran out of input" in text or "stack expects" in text]


EMBEDDING = "IndexError: index out of range in self"
ASSERTION = "Indexing.cu:1236: indexSelectSmallIndex: block: [1,0,0], thread: [3,0,0] Assertion `srcIndex < srcSelectDimSize` failed."


def test_an_entry_is_found_by_what_another_device_prints(tmp_path: Path, make_entry: Callable[..., str]) -> None:
    """The kernel's assertion finds the entry that knows the CPU's exception only, and the reason says what it is the same as."""
    entries = {
        "training/ids-beyond-table": make_entry(title="Token ids beyond the embedding", symptom=EMBEDDING),
        "training/port-taken": make_entry(title="A port is taken", symptom="OSError: [Errno 98] Address already in use"),
    }
    index = open_index([Base(build_base(tmp_path / "entries", entries), "chosen", True)])
    answer = answer_text(f"{ASSERTION}\nRuntimeError: CUDA error: device-side assert triggered\n", index)
    assert [match.id for match in answer.matches][:1] == ["ids-beyond-table"]
    assert EMBEDDING in {reason.in_other_words for reason in answer.matches[0].why}
    plain = answer_text(f"Traceback (most recent call last):\n{EMBEDDING}\n", index)
    assert {reason.in_other_words for reason in plain.matches[0].why} == {None}
    assert plain.matches[0].score > answer.matches[0].score


def test_own_words_go_before_other_words(tmp_path: Path, make_entry: Callable[..., str]) -> None:
    """Where one entry has the report's own words and another the same failure's other words, the first is first."""
    old, new = "RuntimeError: size mismatch, m1: [1 x 2], m2: [3 x 4]", "RuntimeError: mat1 and mat2 shapes cannot be multiplied (1x2 and 3x4)"
    entries = {f"training/{name}": make_entry(title="A layer is given other features", symptom=text) for name, text in (("old", old), ("new", new))}
    index = open_index([Base(build_base(tmp_path / "entries", entries), "chosen", True)])
    for text, first in ((old, "old"), (new, "new")):
        found = [match.id for match in answer_text(f"Traceback (most recent call last):\n{text}\n", index).matches]
        assert sorted(found) == ["new", "old"]
        assert found[0] == first


def test_only_messages_are_put_in_other_words() -> None:
    """What a launcher says after another failure, a frame and a plain line are not reworded: they are no message of the failure."""
    texts = "INFO exit code 137 means SIGKILL\nRuntimeError: mat1 and mat2 shapes cannot be multiplied (1x2 and 3x4)\n\n  exitcode  : -9 (pid: 4711)\n"
    told = {line.paraphrase for line in make_query(report_text(texts)).lines} - {""}
    assert "RuntimeError: mat1 dim 1 must match mat2 dim 0" in told
    assert not [text for text in told if "exit" in text]


def test_a_wrapped_message_is_recognised_with_the_line_after() -> None:
    """A text that a narrow terminal broke in two is put in other words like a whole one."""
    query = make_query(report_text("Traceback (most recent call last):\nRuntimeError: stack expects each tensor to be equal\nsize, but got [3] at entry 0\n"))
    assert "RuntimeError: Trying to resize storage that is not resizable" in {line.paraphrase for line in query.lines}


def test_what_is_said_is_not_said_again() -> None:
    """The text that a line says itself is not among its other words."""
    others = other_words(EMBEDDING, "", anchors_in(EMBEDDING))
    assert others
    assert EMBEDDING not in others


def test_other_words_count_among_many_rivals(tmp_path: Path, make_entry: Callable[..., str]) -> None:
    """Among thirty entries with the report's own wording of other faults, the one with the failure's other words is still compared."""
    entries = {
        f"training/rival-{number}": make_entry(
            title=f"Kernel number {number} asserts", symptom=f"Kernel{number}.cu:12: indexCheck{number}: block: [0,0,0], thread: [1,0,0] Assertion `x{number} < limit{number}` failed."
        )
        for number in range(30)
    }
    entries["training/ids-beyond-table"] = make_entry(title="Token ids beyond the embedding", symptom=EMBEDDING)
    index = open_index([Base(build_base(tmp_path / "entries", entries), "chosen", True)])
    found = [match.id for match in answer_text(f"{ASSERTION}\nRuntimeError: CUDA error: device-side assert triggered\n", index).matches]
    assert found[:1] == ["ids-beyond-table"]

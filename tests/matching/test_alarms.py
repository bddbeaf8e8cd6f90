"""Which words make a line alarming, and which of their occurrences are news."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kbtool.matching import literal_search
from kbtool.matching.alarms import ALARMS, COMPANY, FIRST, FOLD, GRAVE, News, Watch

ALARMING = (
    "Traceback (most recent call last):",
    "RuntimeError: CUDA error",
    "[rank1]: torch.cuda.OutOfMemoryError: CUDA out of memory.",
    "java.io.IOException: broken",
    "ERROR worker died",
    "FATAL: disk",
    "Build FAILED",
    "Killed",
    "Aborted (core dumped)",
    "train.cu:12: Assertion `t >= 0` failed.",
    "Segmentation fault",
    "terminate called after throwing an instance of",
    "thread panicked at",
    "signal 9 received",
    "the watchdog timed out",
    "ReadTimeout",
    "UserWarning: old",
    "WARN slow",
    "Cannot open",
    "command not found",
    "显存不足",
    "错误：失败",
)
HEALTHY = (
    "step 12/200 | loss 0.51 | 48k tok/s",
    "Epoch 3: 12%|#2 | 12/100 [00:03<00:22, 4.0it/s]",
    "saved checkpoint-200",
    "[rank0]: INFO world size 8",
    "训练 开始",
)


def sighted(*lines: str) -> list[News]:
    """How much each place in the lines counts that is news."""
    return [sighting.news for sighting in Watch().sight("\n".join(lines).encode().translate(FOLD))]


@pytest.mark.parametrize("line", ALARMING)
def test_alarming_lines_are_sighted(line: str) -> None:
    """Each line that tells of trouble is seen among healthy ones."""
    assert sighted(*HEALTHY, line, *HEALTHY) != []


def test_healthy_lines_are_passed_over() -> None:
    """What a healthy run prints holds no alarm."""
    assert sighted(*HEALTHY) == []


def test_words_are_written_as_they_are_looked_for() -> None:
    """Every word of the tables is folded already; otherwise it would never be found."""
    assert [word for word in (*GRAVE, *ALARMS) if word.encode().translate(FOLD) != word.encode()] == []


@given(st.binary())
def test_folding_keeps_places(text: bytes) -> None:
    """No byte comes or goes, and neither NUL nor carriage return stays."""
    folded = text.translate(FOLD)

    assert (len(text), 0, 0) == (len(folded), folded.count(0), folded.count(13))


def test_only_new_company_is_news_after_the_first() -> None:
    """A flood of one type of error stops being news; another type in it is."""
    watch = Watch()
    for turn in range(10):
        watch.sight(b"".join(b"valueerror  bad %c%c\n" % (97 + turn, 97 + i) for i in range(20)))
    flood = b"".join(b"valueerror  bad sample %c%c\n" % (97 + i // 26, 97 + i % 26) for i in range(600))

    assert watch.sight(flood) == []
    sightings = watch.sight(flood + b"runtimeerror  here\n" + flood)
    assert [(len(flood) + len("runtime"), News.COMPANY)] == [(one.at, one.news) for one in sightings]


def test_what_can_not_be_news_is_looked_for_no_more() -> None:
    """A word whose first lines and companies are used up is silent, however it comes; other words are not."""
    watch = Watch()
    for turn in range(COMPANY + FIRST):
        name = b"%c%c%c" % (97 + turn // 26, 97 + turn % 26, 97 + turn % 7)
        watch.sight(b"%serror  %s\n" % (name, name))

    assert watch.sight(b"zzzerror  something else\n") == []
    assert watch.sight(b"traceback  most recent call last  \n") != []


@given(st.lists(st.sampled_from([line.encode() for line in (*ALARMING, *HEALTHY)] + [b"\0\xff", b"err", b"r" * 900]), max_size=400))
def test_with_and_without_the_c_library(lines: list[bytes]) -> None:
    """Python's own search gives the same answer as the C library's."""
    block = b"\n".join(lines).translate(FOLD) + b" " * literal_search.WORTHWHILE

    assert [word in block for word in map(str.encode, (*GRAVE, *ALARMS))] == [literal_search.contains(block, word.encode()) for word in (*GRAVE, *ALARMS)]

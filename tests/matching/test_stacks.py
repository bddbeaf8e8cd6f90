"""Dumped stacks of a silent process are read as messages: where its threads stand is the failure."""

from __future__ import annotations

from kbtool.matching.report import PLACES, report_text
from kbtool.matching.signs import Kind

DUMP = """\
Thread 0x00007f3df9495b80 (most recent call first):
  File "/opt/venv/lib/python3.12/site-packages/filelock/_core/_acquire.py", line 177 in _poll_until_acquired
  File "/opt/venv/lib/python3.12/site-packages/filelock/_core/_acquire.py", line 104 in _acquire_level
  File "/opt/venv/lib/python3.12/site-packages/filelock/_core/_lock.py", line 195 in acquire
  File "/opt/venv/lib/python3.12/site-packages/filelock/_core/_lock.py", line 155 in __enter__
  File "/home/u/train.py", line 10 in <module>
"""


def kinds(text: str) -> list[Kind]:
    """The kinds of a text's lines."""
    return [line.kind for line in report_text(text).lines]


def test_the_innermost_frames_of_a_dump_are_its_message() -> None:
    """The frames below the header of a thread are the places that count, the outer ones are frames as ever."""
    assert [Kind.TRACEBACK, *[Kind.PLACE] * PLACES, Kind.FRAME] == kinds(DUMP)

    failure = report_text(DUMP).failure

    assert failure is not None
    assert "_poll_until_acquired" in failure.message


def test_the_stacks_that_kb_run_writes_are_read_alike() -> None:
    """A stall's text names its threads in kb's own words."""
    text = DUMP.replace("Thread 0x00007f3df9495b80", "rank 3 (PID 71, MainThread)")

    assert Kind.PLACE in kinds("kb: stalled (lock) for 31 s\n\n" + text)


def test_a_traceback_and_a_native_stack_are_no_dump() -> None:
    """Frames of an exception stay frames, in Python and in C++."""
    traceback = 'Traceback (most recent call last):\n  File "train.py", line 1, in <module>\nValueError: no\n'
    native = "Exception raised from run at ../c10/a.cpp:1 (most recent call first):\nframe #0: c10::Error::Error + 0x57 (0x7f in libc10.so)\n"

    assert Kind.PLACE not in kinds(traceback)
    assert Kind.PLACE not in kinds(native)

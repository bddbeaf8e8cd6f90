"""Stacks: read from faulthandler and py-spy, grouped so that the odd one stands first, classified by tables."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kbtool.supervision.stacks import Frame, ThreadStack, group, parse_faulthandler, parse_py_spy, telling_frame
from kbtool.supervision.verdict import FRAME_SIGNS, StallClass, class_of_frames, classify_still, repetition
from kbtool.supervision.waits import Wait

DUMP = """\
Thread 0x00007f1a (most recent call first):
  File "/opt/app/worker.py", line 4 in drain
  File "/usr/lib/python3.11/threading.py", line 982 in run

Current thread 0x00007f1b [MainThread] (most recent call first):
  File "/usr/lib/python3.11/threading.py", line 1119 in join
  File "/opt/app/my file.py", line ??? in <module>
"""


def stack(pid: int, *places: str, main: bool = True) -> ThreadStack:
    """A stack of frames given as ``function@file``, innermost first."""
    frames = tuple(Frame(place.split("@")[0], place.split("@")[1], 1) for place in places)
    return ThreadStack(pid, "MainThread" if main else "other", main, frames)


def test_faulthandler_text_is_read() -> None:
    """Every thread with its frames; the one that is listed last is the main one."""
    worker, main = parse_faulthandler(DUMP, 7)
    assert (worker.main, worker.frames[0]) == (False, Frame("drain", "/opt/app/worker.py", 4))
    assert (main.main, main.pid, main.frames[1]) == (True, 7, Frame("<module>", "/opt/app/my file.py", 0))


def test_py_spy_json_is_read() -> None:
    """py-spy's JSON gives the same stacks."""
    thread = {"pid": 7, "thread_name": "MainThread", "os_thread_id": 7, "frames": [{"name": "f", "filename": "/a.py", "line": 3}]}
    assert parse_py_spy(json.dumps([thread]).encode(), 7) == (ThreadStack(7, "MainThread", True, (Frame("f", "/a.py", 3),)),)


def test_a_thread_without_a_name_is_main_where_it_is_alone() -> None:
    """Threads have names only where `threading` was imported: a process with one has its main one, of several none is guessed."""
    thread = {"thread_name": None, "os_thread_id": None, "frames": [{"name": "f", "filename": "/a.py", "line": 3}]}

    assert [one.main for one in parse_py_spy(json.dumps([thread]).encode(), 7)] == [True]
    assert [one.main for one in parse_py_spy(json.dumps([thread, thread]).encode(), 7)] == [False, False]


def test_odd_rank_stands_first() -> None:
    """Three ranks that wait alike make one group, and the one that stands elsewhere comes before them, the launcher after."""
    stacks = [stack(9, "join@/launch.py"), *(stack(pid, "all_reduce@/d.py") for pid in (1, 2, 3)), stack(4, "save@/train.py")]
    groups = group(stacks, {1: 0, 2: 1, 3: 2, 4: 3})
    assert [[member.rank for member in one.members] for one in groups] == [[3], [0, 1, 2], [None]]


def test_children_stand_before_their_parents_and_main_threads_before_others() -> None:
    """A parent mostly waits for its child, so the child tells more."""
    groups = group([stack(1, "wait@/p.py"), stack(2, "read@/c.py"), stack(2, "idle@/t.py", main=False)], {}, {1})
    assert [one.frames[0].function for one in groups] == ["read", "wait", "idle"]


def test_telling_frame_is_the_jobs_own() -> None:
    """Inside the standard library or an installed package the frame that called it tells more."""
    frames = stack(
        1, "wait@/usr/lib/python3.11/threading.py", "load@/venv/lib/python3.11/site-packages/x.py", "main@/home/me/train.py"
    ).frames
    assert str(telling_frame(frames)).startswith("main (/home/me/train.py")


@pytest.mark.parametrize(("kind", "files", "functions"), FRAME_SIGNS, ids=lambda value: getattr(value, "value", ""))
def test_frame_table_classifies(kind: StallClass, files: tuple[str, ...], functions: tuple[str, ...]) -> None:
    """Each row of the table is found by each of its file names, and ordinary code by none."""
    for part in files:
        path = f"/venv/lib/python3.11/site-packages/{part.strip('/')}" + ("" if part.endswith(".py") else "/x.py")
        assert class_of_frames([Frame((functions or ("call",))[0], path, 1)]) is kind
    assert class_of_frames([Frame("acquire", "/home/me/locks.py", 1)]) is None


def test_what_the_kernel_says_comes_first() -> None:
    """A stopped process is stopped and a file lock a file lock, whatever the frames say."""
    stacks = (stack(1, "all_reduce@/x/torch/distributed/d.py"),)
    for kind, expected in (("stopped", StallClass.STOPPED), ("file lock", StallClass.LOCK), ("lock", StallClass.COLLECTIVE)):
        assert classify_still(stacks, {1: Wait(kind, "")}) is expected
    assert classify_still((), {1: Wait("pipe", "")}) is StallClass.WAITING


def test_repetition_knows_a_short_while_loop(tmp_path: Path) -> None:
    """Positions inside one short `while` are a loop; a `for`, a long `while` and a changing stack are not."""
    source = tmp_path / "code.py"
    source.write_text("while not ready:\n    a\n    b\nfor x in y:\n    c\nwhile step:\n" + "    work\n" * 20)

    def at(*lines: int) -> list[list[Frame]]:
        return [[Frame("f", str(source), line)] for line in lines]

    assert repetition(at(1, 2, 3)).in_loop
    assert not repetition(at(4, 5, 5)).in_loop and not repetition(at(7, 8, 9)).in_loop
    assert repetition(at(5, 5, 5)).same_line and not repetition(at(4, 5)).same_line
    assert not repetition([[Frame("f", str(source), 1)], [Frame("g", str(source), 1)]]).same_function

"""`kb probe stack`: where real hanging programs stand, what they wait for, and that nothing happens to them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import pytest

from kbtool.errors import KbError
from kbtool.supervision import sampling, stacks, waits
from kbtool.supervision.flame import flame_svg, shares, text_tree, tree_of
from kbtool.supervision.sampling import Stack, parse_stacks, sample_profile
from kbtool.supervision.signs import BUSY_CPU
from kbtool.supervision.stacks import Frame
from kbtool.supervision.standing import Picture, look_at_job
from kbtool.supervision.verdict import StallClass, in_collective
from tests.conftest import Kb, build_base
from tests.supervision.probing import program, state_of, states_below, wait_until

FILE_LOCK = """
import fcntl, os, sys, time
path = sys.argv[1]
first = open(path, "w")
fcntl.flock(first, fcntl.LOCK_EX)
if os.fork() == 0:
    second = open(path, "w")
    print(os.getpid(), flush=True)
    fcntl.flock(second, fcntl.LOCK_EX)
time.sleep(600)
"""

OWN_PIPE = """
import os
reader, writer = os.pipe()
print(flush=True)
os.read(reader, 1)
"""

CHILDS_PIPE = """
import os, time
reader, writer = os.pipe()
child = os.fork()
if child == 0:
    os.close(reader)
    time.sleep(600)
os.close(writer)
print(child, flush=True)
os.read(reader, 1)
"""

CHILD = """
import subprocess
child = subprocess.Popen(["sleep", "600"])
print(child.pid, flush=True)
child.wait()
"""

CONNECTION = """
import os, socket, time
server = socket.create_server(("127.0.0.1", 0))
child = os.fork()
if child == 0:
    client = socket.create_connection(server.getsockname())
    server.close()
    time.sleep(600)
accepted = server.accept()[0]
print(child, flush=True)
accepted.recv(1)
"""

DEADLOCK = """
import threading
first, second = threading.Lock(), threading.Lock()
first.acquire()
second.acquire()
def take_first_then_never_second():
    with first:
        pass
threading.Thread(target=take_first_then_never_second, name="writer").start()
print(flush=True)
def take_second_again():
    second.acquire()
take_second_again()
"""

ODD_ONE = """
import os, time
def all_wait_here():
    time.sleep(600)
def one_is_elsewhere():
    time.sleep(600)
for number in range(3):
    if os.fork() == 0:
        one_is_elsewhere() if number == 1 else all_wait_here()
print(flush=True)
os.wait()
"""

SPIN = """
def wait_for_flag():
    flag = False
    while not flag:
        flag = False
print(flush=True)
wait_for_flag()
"""

BUSY = """
import time
def compute():
    return sum(range(20000))
def load():
    time.sleep(0.002)
def train():
    while True:
        compute()
        load()
print(flush=True)
train()
"""

Standings = Callable[[int], Picture]


def settled(pid: int, window: float = 0.4) -> Picture:
    """The picture of a job once all of its threads wait; a loaded machine may take a while to get them there."""
    wait_until(lambda: states_below(pid) <= {"S", "T"}, "the program to wait")
    return look_at_job(pid, window=window)


def told_by(picture: Picture, pid: int) -> str:
    """What one process waits for, with who it waits for."""
    one = next(one for one in picture.processes if one.seen.pid == pid)
    return f"{one.wait.words}; {one.partner}"


def test_a_file_lock_with_its_path_and_holder(tmp_path: Path) -> None:
    """Who waits for a lock is told the file and who holds it; the class is lock."""
    path = tmp_path / "build.lock"
    with program(FILE_LOCK, arguments=(str(path),)) as (holder, waiter):
        wait_until(lambda: any("->" in line and f" {waiter} " in line for line in Path("/proc/locks").read_text().splitlines()), "the second to wait for the lock")
        picture = settled(holder)
        told = told_by(picture, int(waiter))

    assert picture.stall.kind is StallClass.LOCK
    assert f"a file lock on {path}" in told
    assert f"held by PID {holder} (python" in told


def test_a_pipe_that_the_reader_itself_keeps_open() -> None:
    """A reader that still has the write end open is told that the end of the data never comes."""
    with program(OWN_PIPE) as (pid, _):
        told = told_by(settled(pid), pid)

    assert "a pipe (read on descriptor" in told
    assert "only it itself has a write end open: the end of the data never comes" in told


def test_a_pipe_whose_other_end_a_child_has() -> None:
    """The process at the other end of a pipe is named."""
    with program(CHILDS_PIPE) as (pid, child):
        told = told_by(settled(pid), pid)

    assert f"the other end: PID {child} (python" in told


def test_a_child_that_does_not_end() -> None:
    """Who waits for a child is told which one, and the child stands below it in the tree."""
    with program(CHILD) as (pid, child):
        wait_until(lambda: "sleep" in Path(f"/proc/{child}/comm").read_text(), "the child to start")
        picture = settled(pid)
        told = told_by(picture, pid)

    assert "a child process to end" in told
    assert f"PID {child} (sleep)" in told
    assert [one.seen.parent for one in picture.processes[1:]] == [pid]


def test_a_connection_with_its_peer() -> None:
    """Who waits for a socket is told both addresses, and which process has the other end."""
    with program(CONNECTION) as (pid, child):
        told = told_by(settled(pid), pid)

    assert "the network: recvfrom on connection 127.0.0.1:" in told
    assert f"the other end: PID {child} (python" in told


def test_a_deadlock_shows_both_threads() -> None:
    """Two threads that wait for locks: both stacks, the main one first, and futex in words."""
    with program(DEADLOCK) as (pid, _):
        picture = settled(pid)

    groups = picture.stall.groups
    assert [group.frames[0].function for group in groups] == ["take_second_again", "take_first_then_never_second"]
    assert picture.stall.kind is StallClass.WAITING
    assert told_by(picture, pid).startswith("a lock or condition of another thread or process (futex)")
    assert picture.processes[0].others == (("a lock or condition of another thread or process (futex)", 1),)


def test_the_odd_one_stands_first() -> None:
    """Of three children two stand at the same place: the third comes first, the parent last."""
    with program(ODD_ONE) as (pid, _):
        wait_until(lambda: len(look_at_job(pid, window=0.1).stall.groups) == 3, "all children to wait")
        picture = settled(pid)

    groups = picture.stall.groups
    assert [(group.frames[0].function, len(group.members)) for group in groups] == [("one_is_elsewhere", 1), ("all_wait_here", 2), ("<module>", 1)]


def test_ranks_are_read_from_the_variables() -> None:
    """Processes that kb did not start carry their rank, and of two equally small groups the rank that waits for no peer comes first."""
    with program(ODD_ONE, env={"RANK": "3"}) as (pid, _):
        wait_until(lambda: len(look_at_job(pid, window=0.1).stall.groups) == 3, "all children to wait")
        picture = settled(pid)
    collective = (Frame("all_reduce", "/site-packages/torch/distributed/distributed_c10d.py", 1),)
    alone = (Frame("save", "/job/train.py", 1),)
    tied = stacks.group([stacks.ThreadStack(1, "MainThread", True, collective), stacks.ThreadStack(2, "MainThread", True, alone)], {1: 0, 2: 1}, (), in_collective)

    assert {member.rank for group in picture.stall.groups for member in group.members} == {3}
    assert [group.members[0].rank for group in tied] == [1, 0]


def test_a_spinning_loop(tmp_path: Path) -> None:
    """A busy job that is in the same short loop of its source at every look spins."""
    script = tmp_path / "spin.py"
    script.write_text(SPIN)
    with program(f"import runpy; runpy.run_path({str(script)!r})") as (pid, _):
        wait_until(lambda: look_at_job(pid, window=0.4).stall.kind is StallClass.SPINNING, "the class spinning")
        assert not states_below(pid) & {"T", "t"}


def test_a_job_that_moves_is_alive_and_matched_with_nothing() -> None:
    """Whatever moves is alive, however busy; its stacks are no failure that the base is asked about."""
    looks: list[Picture] = []
    with program(BUSY) as (pid, _):
        wait_until(lambda: looks.append(look_at_job(pid, window=0.4)) or looks[-1].rates.cpu >= BUSY_CPU, "a look at a busy moment")

    assert looks[-1].stall.kind is StallClass.ALIVE
    assert looks[-1].stall.answer is None


def test_the_picture_is_matched_against_the_base(kb: Kb, make_entry: Callable[..., str], tmp_path: Path) -> None:
    """A hang whose entry is in the base is named, in the text and in the JSON; nothing of the job is stopped."""
    source = "import sched\nlater = sched.scheduler()\nlater.enter(600, 1, print)\nprint(flush=True)\nlater.run()\n"
    script = tmp_path / "finetune.py"
    script.write_text(source)
    symptom = 'Current thread (most recent call first):\n  File "/usr/lib/python3.11/sched.py", line 149 in run\n  File "finetune.py", line 5 in <module>'
    base = build_base(tmp_path / "base" / "entries", {"hang/scheduler-waits": make_entry(domain="hang", title="A scheduler of sched runs an event that is far away", symptom=symptom)})
    with program(f"import runpy; runpy.run_path({str(script)!r})") as (pid, _):
        shown = kb("probe", "stack", str(pid), entries=base)
        told = json.loads(kb("probe", "stack", str(pid), "--json", entries=base).stdout)
        assert not states_below(pid) & {"T", "t"}

    assert (shown.returncode, shown.stderr) == (0, "")
    assert f"PID {pid} " in shown.stdout.splitlines()[0]
    assert "waiting: nothing moves: it waits" in shown.stdout
    assert f"<module> ({script}:5)" in shown.stdout
    assert "known: A scheduler of sched runs an event that is far away (scheduler-waits" in shown.stdout
    assert [match["id"] for match in told["matches"]] == ["scheduler-waits"]
    assert told["class"] == "waiting"
    assert told["processes"][0]["waits_for"]["kind"] == "sleep"
    assert told["stacks"][0]["frames"][0]["function"].endswith("run")  # py-spy names the class too


def test_a_stopped_job_stays_stopped() -> None:
    """A job in state T is told as stopped, its stack is read all the same, and kb does not wake it."""
    with program(DEADLOCK) as (pid, _):
        os.kill(pid, signal.SIGSTOP)
        wait_until(lambda: state_of(pid) == "T", "the stop")
        picture = look_at_job(pid, window=0.2)
        assert state_of(pid) == "T"

    assert picture.stall.kind is StallClass.STOPPED
    assert picture.stall.groups


def test_a_profile_as_text_and_as_flame_graph(kb: Kb, tmp_path: Path) -> None:
    """`--for` gives the share of time a frame, `--svg` a well-formed graph with a box a frame; the job runs on."""
    drawing = tmp_path / "flame.svg"
    with program(BUSY) as (pid, _):
        done = kb("probe", "stack", str(pid), "--for", "1s", "--svg", drawing)
        assert not states_below(pid) & {"T", "t"}
    titles = [one.text or "" for one in ElementTree.fromstring(drawing.read_text()).iter() if one.tag.endswith("title")]

    assert done.returncode == 0
    assert "share of time over 1 s" in done.stdout
    assert "100%  " in done.stdout
    assert "train (<string>:" in done.stdout.partition("share of time")[2]
    assert any(title.startswith("train (<string>:") for title in titles)
    assert any(title.startswith("MainThread: ") for title in titles)


def test_a_job_of_kb_run_tells_its_import(kb: Kb, tmp_path: Path) -> None:
    """Of a job that `kb run` started, the startup record is read too: the import in progress is named."""
    (tmp_path / "hanging_module.py").write_text("import sys, time\nprint('in', flush=True)\ntime.sleep(600)\n")
    command = [sys.executable, "-m", "kbtool", "run", "--", sys.executable, "-c", "import os; print(os.getpid(), flush=True); import hanging_module"]
    job = subprocess.Popen(command, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, cwd=tmp_path, start_new_session=True)
    try:
        assert job.stdout is not None
        pid = job.stdout.readline().decode().strip()
        assert job.stdout.readline() == b"in\n"
        told = json.loads(kb("probe", "stack", pid, "--json").stdout)
    finally:
        os.kill(job.pid, signal.SIGTERM)
        job.communicate(timeout=60)

    assert told["importing"]["module"] == "hanging_module"
    assert told["stacks"]


def test_a_poller_that_runs_for_an_instant_is_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a process that computes nothing the wait is told, even when it is just awake for its next look."""
    seen = iter([waits.Wait("running", "running")] * 3 + [waits.Wait("sleep", "its own timer (sleep)")])
    monkeypatch.setattr(waits, "wait_of", lambda pid: next(seen))

    assert waits.wait_when_still(1).kind == "sleep"


def test_what_is_no_python_has_no_stack(kb: Kb) -> None:
    """A program without Python: tree and waits are told, exit 1."""
    with subprocess.Popen(["sleep", "600"], stdin=subprocess.DEVNULL) as sleeper:
        done = kb("probe", "stack", str(sleeper.pid))
        sleeper.kill()

    assert done.returncode == 1
    assert "waits for its own timer (sleep)" in done.stdout


def test_no_such_process(kb: Kb) -> None:
    """A number that no process has is an error, exit 2."""
    done = kb("probe", "stack", "4194304")

    assert done.returncode == 2
    assert "no process has the number 4194304" in done.stderr


def test_a_missing_tool_is_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without py-spy the tree is told, and one sentence says what would give the stacks."""
    monkeypatch.setattr(stacks, "py_spy", lambda: None)
    monkeypatch.setattr(sampling, "py_spy", lambda: None)
    with program(OWN_PIPE) as (pid, _):
        picture = settled(pid)
        profile = sample_profile(pid, 1)

    assert picture.stall.notes == (f"no Python stack of PID {pid}: it did not answer itself, and py-spy is not installed (`pip install py-spy`)",)
    assert profile.note == "no profile: py-spy is not installed (`pip install py-spy`)"


def test_a_missing_permission_is_a_sentence(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A py-spy that may not look says what it needs."""
    refused = tmp_path / "py-spy"
    refused.write_text("#!/bin/sh\necho 'Permission Denied: Try running again with elevated permissions' >&2\nexit 1\n")
    refused.chmod(0o755)
    monkeypatch.setattr(stacks, "py_spy", lambda: str(refused))
    monkeypatch.setattr(sampling, "py_spy", lambda: str(refused))
    with program(OWN_PIPE) as (pid, _):
        note = settled(pid).stall.notes[0]
        profile = sample_profile(pid, 1)

    assert "py-spy may not look at it: " in note
    assert "py-spy may not look at it: " in profile.note


def test_a_process_that_ends_meanwhile() -> None:
    """A job that ends while it is looked at is an error that says so."""
    with program("import time; print(flush=True); time.sleep(0.5)") as (pid, _):
        begun = time.monotonic()
        with pytest.raises(KbError) as told:
            while time.monotonic() - begun < 30:
                look_at_job(pid, window=1.0)
                wait_until(lambda: state_of(pid) in "ZX", "its end")
                os.waitpid(pid, 0)

    assert "ended" in told.value.message or "no process" in told.value.message


RAW = """\
process 71:"python train.py; x";thread (71): MainThread;<module> (/job/train.py:9);step (/job/train.py:4) 60
process 71:"python train.py; x";thread (71);<module> (/job/train.py:9);step (/job/train.py:5) 20
process 71:"python train.py; x";thread (71): MainThread;<module> (/job/train.py:9);<listcomp> (/job/my data; old/load.py:2) 20
process 71:"python train.py; x";process 72:"python worker";thread (72): MainThread;work (/job/w.py:1) 10
process 71:"python train.py; x";thread (73): writer;wait (/usr/lib/python3.11/threading.py:327) 100
torn line
"""


def test_py_spys_raw_format_is_read() -> None:
    """Process, thread, frames and count of each line, also with semicolons in a command line; torn lines are passed over."""
    found = list(parse_stacks(RAW, 1))

    assert [(one.pid, one.thread, one.count) for one in found] == [
        (71, "MainThread", 60),
        (71, "MainThread", 20),
        (71, "MainThread", 20),
        (72, "MainThread", 10),
        (71, "writer", 100),
    ]
    assert found[0].frames == (Frame("<module>", "/job/train.py", 9), Frame("step", "/job/train.py", 4))


def test_shares_and_tree() -> None:
    """A function's share joins its lines and names the hottest; the tree tells shares a process, the heaviest first."""
    chosen = [Stack(71, "MainThread", (Frame("<module>", "/t.py", 9), Frame("step", "/t.py", line)), count) for line, count in ((4, 60), (5, 20))]
    chosen.append(Stack(71, "MainThread", (Frame("<module>", "/t.py", 9), Frame("load", "/t.py", 2)), 20))
    found = shares(chosen)

    assert [(str(one.frame), one.total, one.own) for one in found] == [("step (/t.py:4)", 0.8, 0.8), ("load (/t.py:2)", 0.2, 0.2), ("<module> (/t.py:0)", 1.0, 0.0)]
    assert text_tree(tree_of(chosen, threads=False)) == [
        "  100%  PID 71",
        "  100%    <module> (/t.py:9)",
        "   60%      step (/t.py:4)",
        "   20%      step (/t.py:5)",
        "   20%      load (/t.py:2)",
    ]


def test_a_flame_graph_obeys_no_name() -> None:
    """Names with markup, quotes and control characters stay text in a well-formed document."""
    nasty = Frame('<script>alert("1")</script>\x1b]0;&', "/a&b<c>.py", 1)
    tree = ElementTree.fromstring(flame_svg(tree_of([Stack(1, "MainThread", (nasty,), 3)]), "PID 1 <&>"))
    tags = {one.tag.rpartition("}")[2] for one in tree.iter()}

    assert tags == {"svg", "rect", "text", "g", "title"}
    assert any('<script>alert("1")</script>?]0;&' in (one.text or "") for one in tree.iter())

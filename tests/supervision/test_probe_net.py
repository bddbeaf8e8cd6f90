"""`kb probe net`: the network of a running process, seen on real sockets."""

from __future__ import annotations

import json
import os
import shutil
import socket
import sys

import pytest

from kbtool.errors import KbError
from kbtool.supervision.network import look_at_network
from kbtool.supervision.network_reading import read_network
from kbtool.supervision.network_trace import Tracing, failed_calls, read_calls
from tests.conftest import Kb
from tests.supervision.conftest import on_terminal
from tests.supervision.probing import kinds, program, states_below

BUSY = """
import os, socket, time
server = socket.create_server(("127.0.0.1", 0))
client = socket.create_connection(server.getsockname())
accepted = server.accept()[0]
client.send(b"never read")
silent = socket.socket()
silent.bind(("127.0.0.1", 0))
name = socket.socket(type=socket.SOCK_DGRAM)
name.connect(("127.0.0.1", 53))
print(server.getsockname()[1], flush=True)
time.sleep(600)
"""

UNANSWERED = """
import socket, sys, time
full = socket.socket()
full.bind(("127.0.0.1", 0))
full.listen(0)
clients = []
for _ in range(4):
    client = socket.socket()
    client.setblocking(False)
    client.connect_ex(full.getsockname())
    clients.append(client)
print(full.getsockname()[1], flush=True)
time.sleep(600)
"""

REFUSED = """
import socket, time
mine = socket.socket()
mine.bind(("127.0.0.1", 0))  # kept without listening: nobody else gets the port meanwhile
place = mine.getsockname()
print(place[1], flush=True)
while True:
    try:
        socket.create_connection(place)
    except OSError:
        time.sleep(0.05)
"""

CHILD_LISTENS = """
import os, socket, time
if os.fork() == 0:
    server = socket.create_server(("0.0.0.0", 0))
    print(server.getsockname()[1], flush=True)
time.sleep(600)
"""


def test_listening_connected_unread_and_never_listened(kb: Kb) -> None:
    """One look names the listener, the connection with its peer, unread bytes, a bound socket and the open name query."""
    with program(BUSY) as (pid, port):
        done = kb("probe", "net", str(pid), "--for", "300ms")
        told = json.loads(kb("probe", "net", str(pid), "--for", "300ms", "--json").stdout)
        assert not states_below(pid) & {"T", "t"}

    assert done.returncode == 0
    assert f"listens on  127.0.0.1:{port}" in done.stdout
    assert f"(PID {pid}, python" in done.stdout
    assert {"local only", "does not read", "never listened", "name query"} <= set(kinds(told["readings"]))
    assert {one["state"] for one in told["sockets"]} == {"LISTEN", "ESTABLISHED"}
    assert told["asked_names"] == ["127.0.0.1:53"]


def test_an_attempt_that_nobody_answers() -> None:
    """A server whose queue is full does not answer: the client's address and SYN_SENT are told."""
    with program(UNANSWERED) as (pid, port):
        use = look_at_network(pid, 0.3)

    assert {one.socket.remote for one in use.attempts} == {("127.0.0.1", int(port))}
    assert "unanswered" in kinds(read_network(use))


def test_refused_connections_leave_a_count() -> None:
    """Refused attempts leave no socket; the kernel's counter shows that they happened."""
    with program(REFUSED) as (pid, _):
        use = look_at_network(pid, 1.0)

    assert use.failed_attempts >= 1
    assert "refused" in kinds(read_network(use))


def test_progress_is_shown_on_a_terminal_only(kb: Kb) -> None:
    """On a terminal a line says how far the look is and is wiped at the end; in a pipe stderr stays empty."""
    with program(CHILD_LISTENS) as (pid, port):
        command = [sys.executable, "-m", "kbtool", "probe", "net", str(pid), "--for", "500ms"]
        shown = on_terminal(command, os.environ).output
        piped = kb("probe", "net", str(pid), "--for", "500ms")

    assert b"kb: looking at the network, 0 of 0.5 s" in shown
    assert f"0.0.0.0:{port}".encode() in shown.rpartition(b"\x1b[K")[2]
    assert piped.stderr == ""


def test_children_are_looked_at_too() -> None:
    """What a child listens on counts for the process that was asked about."""
    with program(CHILD_LISTENS) as (pid, port):
        use = look_at_network(pid, 0.1)

    assert [one.socket.local[1] for one in use.listening()] == [int(port)]
    assert use.listening()[0].pids != (pid,)


def test_a_process_without_network(kb: Kb) -> None:
    """No socket at all is an answer: one sentence, exit 1."""
    with program("import time; print(flush=True); time.sleep(600)") as (pid, _):
        done = kb("probe", "net", str(pid), "--for", "100ms")

    assert done.returncode == 1
    assert "no network socket at all" in done.stdout


def test_no_such_process(kb: Kb) -> None:
    """A number that no process has is an error, exit 2."""
    done = kb("probe", "net", "4194304")

    assert done.returncode == 2
    assert "no process has the number 4194304" in done.stderr


def test_a_process_that_may_not_be_seen_is_not_called_silent(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where descriptors are listed and can not be followed, that is an error, not `no network`."""

    def refuse(path: str) -> str:
        raise PermissionError(13, "Permission denied", path)

    with program(BUSY) as (pid, _):
        monkeypatch.setattr(os, "readlink", refuse)
        with pytest.raises(KbError) as told:
            look_at_network(pid, 0.1)

    assert f"the sockets of PID {pid} are not shown" in told.value.message


def test_strace_names_who_refuses_and_leaves_nothing_stopped(kb: Kb) -> None:
    """With --trace the refused address is named; afterwards no thread is stopped or traced."""
    if shutil.which("strace") is None:
        pytest.skip("strace is not installed")
    with program(REFUSED) as (pid, port):
        done = kb("probe", "net", str(pid), "--for", "1s", "--trace", "--json")
        states = states_below(pid)

    told = json.loads(done.stdout)
    if told["note"]:
        pytest.skip(told["note"])
    assert any(f"127.0.0.1:{port} refuses the connection" in one["text"] for one in told["readings"])
    assert not states & {"T", "t"}


def test_without_strace_there_is_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    """A missing strace is told and is no error."""
    monkeypatch.setenv("PATH", "/nonexistent")

    with Tracing(os.getpid(), 0.1) as tracing:
        pass

    assert tracing.seen.note == "network calls are not traced: strace is not installed"


CALLS = """\
71 connect(3, {sa_family=AF_INET, sin_port=htons(6006), sin_addr=inet_addr("10.1.2.3")}, 16) = -1 ECONNREFUSED (Connection refused)
71 connect(4, {sa_family=AF_UNIX, sun_path="/run/nscd/socket"}, 110) = -1 ENOENT (No such file or directory)
72 connect(3, {sa_family=AF_INET6, sin6_port=htons(443), sin6_flowinfo=htonl(0), inet_pton(AF_INET6, "2001:db8::1", &sin6_addr), sin6_scope_id=0}, 28) = -1 ENETUNREACH (Network is unreachable)
71 connect(3, {sa_family=AF_INET, sin_port=htons(6006), sin_addr=inet_addr("10.1.2.3")}, 16 <unfinished ...>
72 bind(5, {sa_family=AF_INET, sin_port=htons(8000), sin_addr=inet_addr("0.0.0.0")}, 16) = -1 EADDRINUSE (Address already in use)
71 <... connect resumed>) = -1 ECONNREFUSED (Connection refused)
72 connect(3, {sa_family=AF_INET, sin_port=htons(80), sin_addr=inet_addr("10.9.9.9")}, 16) = -1 EINPROGRESS (Operation now in progress)
72 recvfrom(7, 0x7f, 8192, 0, NULL, NULL) = 512
"""


def test_lines_of_strace_are_read() -> None:
    """Refusals, missing routes and ports in use are found in strace's lines, also where a call is cut in two."""
    assert [one.text for one in read_calls(CALLS.splitlines())] == [
        "10.1.2.3:6006 refuses the connection: nobody listens there, or only on another address (2 times)",
        "no way leads to 2001:db8::1:443: this machine has no route to that network",
        "0.0.0.0:8000 can not be bound: it is in use (`kb probe port 8000`)",
    ]
    assert ("connect", "EINPROGRESS", "10.9.9.9:80", "80") in list(failed_calls(CALLS.splitlines()))


def test_a_peer_that_does_not_read() -> None:
    """Bytes that the other side does not take are told with who that is."""
    with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname()) as client:
        accepted = server.accept()[0]
        client.setblocking(False)
        try:
            while True:
                client.send(b"x" * 65536)
        except BlockingIOError:
            pass
        use = look_at_network(os.getpid(), 0.05)
        accepted.close()

    assert "peer does not read" in kinds(read_network(use))

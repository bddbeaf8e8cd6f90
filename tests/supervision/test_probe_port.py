"""`kb probe port`: who holds a port, seen on real sockets of real processes."""

from __future__ import annotations

import errno
import json
import os
import signal
import socket
from dataclasses import replace

import pytest

from kbtool.supervision.bound_sockets import bound_sockets
from kbtool.supervision.holders import Holder, describe, parse_control_group
from kbtool.supervision.port_reading import freeing_command, read_port
from kbtool.supervision.ports import Listening, PortUse, look_at_port
from kbtool.supervision.sockets import Socket
from tests.conftest import Kb
from tests.supervision.probing import kinds, program, state_of, wait_until

LISTEN = """
import socket, sys, time
server = socket.create_server((sys.argv[1], 0))
print(server.getsockname()[1], flush=True)
time.sleep(600)
"""

BIND = """
import socket, time
server = socket.socket()
server.bind(("127.0.0.1", 0))
print(server.getsockname()[1], flush=True)
time.sleep(600)
"""

PARENT_THAT_LEAVES = """
import subprocess, sys
print(subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], stdout=subprocess.DEVNULL).pid, flush=True)
"""

HOLDER = Holder(71, "python", "python serve.py", "ann", True, 1.0e9, 70, "bash", "S", 70, True)
CLOSED = Socket(("127.0.0.1", 8000), ("127.0.0.1", 40000), "TIME_WAIT", "0", timer=41.5)


def use_of(*holders: Holder, address: str = "0.0.0.0") -> PortUse:
    """Port 8000, listened on by `holders`."""
    return PortUse(8000, (Listening(address, 0, holders),))


def free_port() -> int:
    """A port that nobody has, below those of outgoing connections."""
    with socket.socket() as trial:
        for port in range(21000, 30000):
            try:
                trial.bind(("", port))
                return port
            except OSError:
                continue
    raise AssertionError("no free port")


def test_a_listener_is_named_with_its_address_and_the_command_that_frees_the_port(kb: Kb) -> None:
    """A server on 127.0.0.1 is found: PID, command, since when, that others are refused, and `kill PID`."""
    with program(LISTEN, arguments=("127.0.0.1",)) as (pid, port):
        done = kb("probe", "port", port)

    assert done.returncode == 0
    assert "listens on 127.0.0.1\n" in done.stdout
    assert f"PID {pid} python" in done.stdout
    assert "server = socket.create_server" not in done.stdout.splitlines()[0]
    assert "since 2" in done.stdout
    assert "connections are refused; let the server bind 0.0.0.0" in done.stdout
    assert done.stdout.splitlines()[-1] == f"free it: kill {pid}"


def test_the_command_really_frees_the_port(kb: Kb) -> None:
    """What `free_with` says is run: afterwards nobody holds the port and the exit code is 1."""
    with program(LISTEN, arguments=("0.0.0.0",)) as (pid, port):
        told = json.loads(kb("probe", "port", port, "--json").stdout)
        assert told["listening"] == [{"address": "0.0.0.0", "waiting": 0, "pids": [pid]}]
        assert "local only" not in kinds(told["readings"])
        assert os.system(told["free_with"]) == 0
        wait_until(lambda: state_of(pid) in "ZX", "the server's end")
        after = kb("probe", "port", port)

    assert after.returncode == 1
    assert "nobody uses it" in after.stdout


def test_a_stopped_server_is_told_and_woken_by_nobody(kb: Kb) -> None:
    """A server stopped with Ctrl-Z is said to be stopped; kb leaves it as it is."""
    with program(LISTEN, arguments=("0.0.0.0",)) as (pid, port):
        os.kill(pid, signal.SIGSTOP)
        wait_until(lambda: state_of(pid) == "T", "the stop")
        told = json.loads(kb("probe", "port", port, "--json").stdout)
        assert state_of(pid) == "T"

    assert "stopped" in kinds(told["readings"])
    assert told["free_with"] == f"kill {pid}; kill -CONT {pid}"


def test_connections_that_nobody_accepts_are_counted() -> None:
    """Two clients in the queue of a server that never accepts: `not accepting`."""
    with program(LISTEN, arguments=("127.0.0.1",)) as (_, port):
        clients = [socket.create_connection(("127.0.0.1", int(port))) for _ in range(2)]
        use = look_at_port(int(port))
        for client in clients:
            client.close()

    assert use.listening[0].waiting == 2
    assert "not accepting" in kinds(read_port(use))


def test_a_port_that_is_bound_and_never_listened_on() -> None:
    """A socket without `listen` is in no table of the kernel; its holder is found all the same."""
    with socket.socket() as own:
        own.bind(("127.0.0.1", 0))
        if not bound_sockets([os.getpid()], ()):
            pytest.skip("this machine does not lend descriptors (pidfd_getfd)")
    with program(BIND) as (pid, port):
        use = look_at_port(int(port))

    assert [holder.pid for holder in use.bound] == [pid]
    assert "never listened" in kinds(read_port(use))
    assert freeing_command(use) == f"kill {pid}"


def test_time_wait_is_no_process() -> None:
    """A port whose closed connection rests in TIME_WAIT is explained, with no command: time frees it."""
    server = socket.create_server(("127.0.0.1", 0))
    port = server.getsockname()[1]
    client = socket.create_connection(("127.0.0.1", port))
    accepted = server.accept()[0]
    accepted.close()
    wait_until(lambda: client.recv(1) == b"", "the server's close")
    client.close()
    server.close()
    wait_until(lambda: [one.state for one in look_at_port(port).connections] == ["TIME_WAIT"], "TIME_WAIT")
    use = look_at_port(port)

    assert "time wait" in kinds(read_port(use))
    assert 0 < use.connections[0].timer <= 60
    assert freeing_command(use) is None


def test_an_outgoing_connection_can_hold_a_port() -> None:
    """A port that a client got for its own end is explained as that client's connection."""
    with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname()) as client:
        use = look_at_port(client.getsockname()[1])

    assert [holder.pid for holder in use.holders] == [os.getpid()]
    assert "outgoing" in kinds(read_port(use))


def test_a_free_port_is_free(kb: Kb) -> None:
    """A port that nobody has: said so, exit 1, and it can still be bound."""
    port = free_port()
    done = kb("probe", "port", str(port), "--json")

    assert done.returncode == 1
    assert kinds(json.loads(done.stdout)["readings"]) == ["free"]
    assert json.loads(done.stdout)["free_with"] is None
    socket.create_server(("127.0.0.1", port)).close()


def test_a_process_whose_starter_has_ended_is_a_leftover() -> None:
    """The child of a process that is gone counts as left over, once the system has adopted it."""
    with program(PARENT_THAT_LEAVES) as (parent, child):
        wait_until(lambda: state_of(parent) in "ZX", "the parent's end")
        left = describe(int(child))
        assert left is not None
        os.kill(left.pid, signal.SIGKILL)

    if left.parent != 1:
        pytest.skip("orphans are adopted by another process than PID 1 here")
    assert left.leftover
    assert "leftover" in kinds(read_port(use_of(left)))


READINGS = [
    (use_of(replace(HOLDER, name="docker-proxy")), "proxy", "docker stop $(docker ps -q --filter publish=8000)"),
    (use_of(replace(HOLDER, pid=1, parent=0)), "container", f"docker stop {socket.gethostname()}"),
    (use_of(replace(HOLDER, container="0123456789ab")), "container", "docker stop 0123456789ab"),
    (use_of(replace(HOLDER, unit="--user jupyter.service")), "service", "systemctl --user stop jupyter.service"),
    (use_of(HOLDER, address="192.168.7.4"), "one address", "kill 71"),
    (use_of(replace(HOLDER, name="ssh")), "proxy", "kill 71"),
    (PortUse(8000, (Listening("127.0.0.1", 0, (HOLDER,)), Listening("0.0.0.0", 0, (replace(HOLDER, pid=99),)))), "several", "kill 71"),
    (PortUse(8000, refusal=errno.EADDRINUSE), "hidden", None),
    (PortUse(80, refusal=errno.EACCES), "privileged", None),
    (PortUse(40000, outgoing_range=(32768, 60999)), "outgoing range", None),
    (PortUse(8000, connections=(CLOSED,)), "time wait", None),
    (PortUse(8000, connections=(replace(CLOSED, state="CLOSE_WAIT"),)), "close wait", None),
]


@pytest.mark.parametrize(("use", "kind", "command"), READINGS, ids=lambda value: value if isinstance(value, str) else "")
def test_each_situation_has_its_word_and_its_command(use: PortUse, kind: str, command: str | None) -> None:
    """Situations that a test can not make without containers and services: the reading and the freeing command."""
    assert kind in kinds(read_port(use))
    assert freeing_command(use) == command


def test_of_workers_that_share_a_socket_the_master_is_ended() -> None:
    """A worker's death would only make its master start another: the master's PID is named."""
    workers = (replace(HOLDER, pid=60, parent=71), HOLDER, replace(HOLDER, pid=91, parent=71))

    assert freeing_command(use_of(*workers)) == "kill 71"


def test_another_users_process_needs_sudo(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without root, what belongs to somebody else is freed with sudo."""
    monkeypatch.setattr(os, "geteuid", lambda: 1000)

    assert freeing_command(use_of(replace(HOLDER, mine=False))) == "sudo kill 71"
    assert freeing_command(use_of(replace(HOLDER, unit="nginx.service"))) == "sudo systemctl stop nginx.service"


CONTROL_GROUPS = {
    "0::/system.slice/nginx.service\n": ("nginx.service", None),
    "0::/user.slice/user-1000.slice/user@1000.service/app.slice/jupyter.service\n": ("--user jupyter.service", None),
    "0::/user.slice/user-1000.slice/session-3.scope\n": (None, None),
    "0::/user.slice/user-1000.slice/user@1000.service/app.slice/vte-spawn.scope\n": (None, None),
    f"0::/system.slice/docker-{'ab' * 32}.scope\n": (None, "ab" * 6),
    f"12:memory:/docker/{'0f' * 32}\n": (None, "0f" * 6),
    f"0::/kubepods.slice/kubepods-besteffort.slice/cri-containerd-{'c4' * 32}.scope\n": (None, "c4" * 6),
    "0::/\n": (None, None),
}


@pytest.mark.parametrize("text", CONTROL_GROUPS)
def test_service_and_container_are_read_from_the_control_group(text: str) -> None:
    """systemd services, user services and containers are told apart by the control group's name."""
    assert parse_control_group(text) == CONTROL_GROUPS[text]


@pytest.mark.parametrize("number", ["0", "65536", "http"])
def test_what_is_no_port_is_refused(number: str, kb: Kb) -> None:
    """A number that is no port is an error with a hint, exit 2."""
    done = kb("probe", "port", number)

    assert done.returncode == 2
    assert "hint: " in done.stderr

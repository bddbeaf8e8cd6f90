"""`kb probe net PID`, printed."""

from __future__ import annotations

import contextlib

from kbtool.cli.probe_text import end_progress, need_linux, print_readings, progress
from kbtool.cli.render import print_json, safe_line, styled, tell
from kbtool.errors import ExitStatus
from kbtool.supervision.network import NetworkUse, Owned, look_at_network
from kbtool.supervision.network_reading import read_network
from kbtool.supervision.network_trace import Trace, Tracing
from kbtool.supervision.sockets import address

SHOWN_CONNECTIONS = 20


def show_network(pid: int, seconds: float, *, trace: bool, as_json: bool) -> ExitStatus:
    """Look at the network of a process for a while and print what was found; NEGATIVE when it has none."""
    need_linux()
    say = progress(lambda passed: f"looking at the network, {passed:.0f} of {seconds:g} s")
    try:
        with Tracing(pid, seconds) if trace else contextlib.nullcontext() as tracing:
            use = look_at_network(pid, seconds, progress=say)
    finally:
        end_progress()
    calls = tracing.seen if tracing else Trace(0)
    readings = [*calls.readings, *read_network(use)]
    if as_json:
        print_json({**use.to_json(), "traced_calls": calls.calls if trace else None, "note": calls.note, "readings": [one.to_json() for one in readings]})
    else:
        _print_use(use)
        print_readings(readings)
    if calls.note:
        tell(calls.note)
    return ExitStatus.OK if use.used or calls.calls else ExitStatus.NEGATIVE


def _print_use(use: NetworkUse) -> None:
    children = f" and {len(use.pids) - 1} below it" if len(use.pids) > 1 else ""
    print(styled(f"PID {use.pids[0]}{children}", "bold"))
    for one in use.listening():
        print(f"  listens on  {address(one.socket.local)}{_pids(use, one)}")
    connected = use.connected()
    for one in connected[:SHOWN_CONNECTIONS]:
        peer = use.peers.get(one.socket.remote)
        who = f"  (PID {peer.pid}, {safe_line(peer.name)})" if peer else ""
        print(f"  connected   {address(one.socket.local)} → {address(one.socket.remote)}  {one.socket.state}{who}{_pids(use, one)}")
    if len(connected) > SHOWN_CONNECTIONS:
        print(f"  … {len(connected) - SHOWN_CONNECTIONS} more connections (all of them with --json)")
    for one in use.attempts:
        print(f"  asks        {address(one.socket.remote)}  {one.socket.state}{_pids(use, one)}")
    print(f"  nameservers {', '.join(map(safe_line, use.nameservers)) or 'none named'}")


def _pids(use: NetworkUse, one: Owned) -> str:
    return f"  in PID {', '.join(map(str, one.pids))}" if len(use.pids) > 1 else ""

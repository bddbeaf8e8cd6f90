"""`kb probe port N`, printed."""

from __future__ import annotations

import time

from kbtool.cli.probe_text import need_linux, print_readings
from kbtool.cli.render import print_json, safe_line, styled
from kbtool.errors import ExitStatus
from kbtool.quantities import duration
from kbtool.supervision.holders import Holder
from kbtool.supervision.port_reading import freeing_command, read_port
from kbtool.supervision.ports import PortUse, look_at_port

COMMAND_WIDTH = 160


def show_port(number: int, *, as_json: bool) -> ExitStatus:
    """Look at a port and print what was found; NEGATIVE when nobody has it."""
    need_linux()
    use = look_at_port(number)
    readings, command = read_port(use), freeing_command(use)
    if as_json:
        print_json({**use.to_json(), "readings": [one.to_json() for one in readings], "free_with": command})
    else:
        print(styled(f"port {number}", "bold"))
        _print_holders(use)
        print_readings(readings)
        if command:
            print(f"free it: {styled(safe_line(command), 'cyan')}")
    return ExitStatus.OK if use.used else ExitStatus.NEGATIVE


def _print_holders(use: PortUse) -> None:
    for one in use.listening:
        print(f"  listens on {one.address}")
        for holder in one.holders:
            print_holder(holder)
    for holder in use.bound:
        print("  bound, not listening")
        print_holder(holder)


def print_holder(holder: Holder) -> None:
    """A process in two lines: who and since when, and its command."""
    since = time.strftime("%Y-%m-%d %H:%M", time.localtime(holder.since))
    started = f" · started by {holder.parent_name} (PID {holder.parent})" if holder.parent else ""
    print(f"    {styled(f'PID {holder.pid}', 'bold')} {safe_line(holder.name)} · user {safe_line(holder.user)} · since {since} ({duration(holder.age())}){safe_line(started)}")
    print(f"      {styled(safe_line(holder.command[:COMMAND_WIDTH]), 'dim')}")

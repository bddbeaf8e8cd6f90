"""kb env: what is true of the place where checks run, and what differs from where an entry was last confirmed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from kbtool.cli.app import command_app

if TYPE_CHECKING:
    from kbtool.verification.environment import Fingerprint

app = command_app()

LABELS = {
    "system": "system",
    "container": "container",
    "cpu": "CPU cores",
    "memory": "memory",
    "shared_memory": "/dev/shm",
    "temporary": "temporary folder",
    "cache": "cache folder",
    "limits": "limits (ulimit)",
    "python": "python",
    "torch": "torch",
    "packages": "packages",
    "gpus": "GPUs",
    "gpu_processes": "GPU processes",
    "cuda_driver": "GPU driver",
    "accelerators": "other accelerators",
    "variables": "variables",
    "deep": "torch, imported",
}
"""What each fact is called for a person, in the order in which they are printed."""

BYTES = frozenset({"total", "available", "free", "swap", "locked_memory", "stack", "core", "address_space"})
"""Keys whose numbers are bytes (and `cgroup_limit` of memory)."""


@app.command(epilog="Example: kb env --diff loader-shared-memory-too-small")
def env(
    diff: Annotated[str | None, typer.Option("--diff", metavar="ID", help="Show what differs from where this entry was last confirmed.")] = None,
    deep: Annotated[bool, typer.Option("--deep", help="Import torch too, for what only it can tell (seconds).")] = False,
    via: Annotated[str, typer.Option("--via", metavar="PREFIX", help='Ask behind this prefix, e.g. "docker exec trainer".')] = "",
    as_json: Annotated[bool, typer.Option("--json", help="Print every fact as JSON.")] = False,
) -> None:
    """Print the environment fingerprint: system, limits, python, torch, GPUs and the variables that matter."""
    from kbtool.cli.render import print_json, safe
    from kbtool.verification.environment import fingerprint
    from kbtool.verification.shell import surroundings_of

    here = fingerprint(surroundings_of(via=via), deep=deep)
    if diff is not None:
        _print_difference(diff, here, as_json)
    elif as_json:
        print_json(here.as_dict())
    else:
        typer.echo(safe("\n".join(lines_of(here))))


def lines_of(here: Fingerprint) -> list[str]:
    """The fingerprint as a person reads it: one line a fact, unknown ones with their reason."""
    lines = [here.short(), ""]
    for name, label in LABELS.items():
        if name in here.unknown:
            lines.append(f"{label:<20} unknown: {here.unknown[name]}")
        elif name in here.facts and here.facts[name] not in ({}, []):
            lines += _fact_lines(label, here.facts[name], name)
    return lines + [f"{'everything':<20} unknown: {reason}" for name, reason in here.unknown.items() if name == "all"]


def _fact_lines(label: str, value: Any, name: str) -> list[str]:
    if isinstance(value, list):
        return [f"{label if at == 0 else '':<20} {_brief(item, name)}" for at, item in enumerate(value)]
    if name in ("variables", "packages", "limits"):
        return [f"{label if at == 0 else '':<20} {key} = {_value(key, item, name)}" for at, (key, item) in enumerate(value.items())]
    return [f"{label:<20} {_brief(value, name)}"]


def _brief(value: Any, name: str) -> str:
    if value is None:
        return "none"
    if not isinstance(value, dict):
        return str(value)
    return " · ".join(f"{key} {_value(key, item, name)}" for key, item in value.items() if item not in (None, []))


def _value(key: str, value: Any, name: str) -> str:
    if isinstance(value, list):
        return " / ".join(_value(key, item, name) for item in value)
    if value is None:
        return "unlimited" if name == "limits" else "unknown"
    is_bytes = isinstance(value, int) and not isinstance(value, bool) and (key in BYTES or (key == "cgroup_limit" and name == "memory"))
    return _bytes(value) if is_bytes else str(value)


def _bytes(count: float) -> str:
    for unit in ("B", "KiB", "MiB", "GiB"):
        if count < 1024:
            return f"{count:.0f} {unit}"
        count /= 1024
    return f"{count:.1f} TiB"


def _print_difference(entry_id: str, here: Fingerprint, as_json: bool) -> None:
    from kbtool.cli.render import print_json, safe
    from kbtool.errors import KbError
    from kbtool.knowledge.layers import find_layers
    from kbtool.verification.history import differences, last_confirmed
    from kbtool.verification.record import load

    _, entry = load(entry_id, find_layers())
    then = last_confirmed(entry)
    if then is None:
        raise KbError(f"`{entry_id}` was never confirmed, so there is nothing to compare with", hint=f"`kb verify {entry_id}`")
    found = differences(then.environment, here)
    if as_json:
        print_json({"id": entry_id, "confirmed": then.when, "then": then.environment, "here": here.short(), "differences": found})
        return
    typer.echo(safe(f"{entry_id} was last confirmed {then.when} on {then.environment}"))
    for item in found or [{"what": "", "then": "", "here": ""}]:
        typer.echo(safe(f"  {item['what']}: {item['then']} there, {item['here']} here") if item["what"] else "  this environment does not differ in what was noted")

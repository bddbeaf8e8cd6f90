"""kb env: what is true of the place where checks run, and what differs from where an entry was last confirmed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from kbtool.cli.app import command_app

if TYPE_CHECKING:
    from kbtool.verification.comparing import Comparison, Difference
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
    from kbtool.verification.comparing import compare
    from kbtool.verification.record import load

    _, entry = load(entry_id, find_layers())
    found = compare(entry, here)
    if found is None:
        raise KbError(f"`{entry_id}` was never confirmed, so there is nothing to compare with", hint=f"`kb verify {entry_id}` runs its check here")
    if as_json:
        rows = [{"what": one.what, "then": one.then, "here": one.here} for one in found.differences]
        told = {"then": found.then.environment, "here": here.short(), "complete": found.complete, "compared": found.compared}
        print_json({"id": entry_id, "confirmed": found.then.when, **told, "differences": rows})
    else:
        typer.echo(safe("\n".join(_comparison_lines(entry_id, found))))


def _comparison_lines(entry_id: str, found: Comparison) -> list[str]:
    """The comparison as a table of what differs, and a word on what was compared."""
    from kbtool.cli.render import columns
    from kbtool.quantities import plural

    lines = [f"{entry_id} was last confirmed {found.then.when} on {found.then.environment}", ""]
    rows = [(_label(one), _side(one, one.then), _side(one, one.here)) for one in found.differences]
    if rows:
        lines += [*(f"  {line}" for line in columns([("", "there", "here"), *rows])), ""]
    told = f"{len(rows)} {'differs' if len(rows) == 1 else 'differ'}" if rows else "this environment does not differ in any"
    lines.append(f"{plural(found.compared, 'value')} compared, {told}")
    if not found.complete:
        lines.append("(of that place only the entry's row is known, which has the short form)")
    return lines


def _label(one: Difference) -> str:
    return " ".join(part for part in (LABELS.get(one.fact, one.fact), one.name) if part)


def _side(one: Difference, value: Any) -> str:
    return "none" if value is None and one.fact != "limits" else _value(one.name.split(" ")[-1], value, one.fact)

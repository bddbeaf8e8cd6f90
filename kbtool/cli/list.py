"""`kb list`: what the bases hold."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from kbtool.cli.app import command_app

app = command_app()


@app.command("list")
def list_entries(
    domain: Annotated[str | None, typer.Option("--domain", metavar="NAME", help="Only this domain.")] = None,
    status: Annotated[str | None, typer.Option("--status", metavar="STATUS", help="Only draft, active or retired entries.")] = None,
    tag: Annotated[str | None, typer.Option("--tag", metavar="TAG", help="Only entries with this tag.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the entries as JSON.")] = False,
) -> None:
    """List the entries of all layers, by domain. Exit 1 when there is none.

    Example: kb list --domain data
    """
    from kbtool.cli.render import print_json, tell
    from kbtool.errors import ExitStatus
    from kbtool.knowledge.problems import EntryError

    _refuse_unknown(domain, status)
    rows: list[dict[str, Any]] = []
    for base, file in _files():
        try:
            row = _row(base, file)
        except (EntryError, OSError) as error:
            tell(f"kb: {error}")
            continue
        if (domain in (None, row["domain"])) and (status in (None, row["status"])) and (tag is None or tag in row["tags"]):
            rows.append(row)
    if as_json:
        print_json(rows)
    elif rows:
        _print_table(rows)
    else:
        tell("no entry is like that" if domain or status or tag else "no entries", hint="`kb add` writes one, `kb doctor` says where kb looks")
    raise typer.Exit(ExitStatus.OK if rows else ExitStatus.NEGATIVE)


def _refuse_unknown(domain: str | None, status: str | None) -> None:
    """A filter that can never fit is a mistake, not an empty answer. Raises KbError with what there is."""
    from kbtool.errors import KbError
    from kbtool.knowledge.layers import domain_folders, find_layers
    from kbtool.model import Status

    domains = sorted({name for base in find_layers() for name in domain_folders(base.root)})
    if domain is not None and domain not in domains:
        raise KbError(f"`{domain}` is no domain of the bases in use", hint="they have " + ", ".join(domains))
    states = [state.value for state in Status]
    if status is not None and status not in states:
        raise KbError(f"`{status}` is no status", hint="an entry is " + ", ".join(states))


def _files() -> list[tuple[Any, Any]]:
    """Base and file of every entry, by domain and id, the top layer winning."""
    from kbtool.knowledge.layers import entry_files, find_layers

    found: dict[str, tuple[Any, Any]] = {}
    for base in reversed(find_layers()):
        found.update((file.id, (base, file)) for file in entry_files(base))
    return sorted(found.values(), key=lambda item: (item[1].domain, item[1].id))


def _row(base: Any, file: Any) -> dict[str, Any]:
    from kbtool.cli.answers import tally_json
    from kbtool.knowledge.entry import read_entry
    from kbtool.knowledge.outcomes import tally

    entry = read_entry(file.path, file.domain)
    counted = tally(entry.outcomes, entry.check.digest if entry.check else None)
    return {
        "id": entry.id,
        "domain": entry.domain,
        "title": entry.title,
        "status": entry.status.value,
        "family": entry.family,
        "tags": list(entry.tags),
        "layer": base.kind,
        "path": str(entry.path),
        "created": entry.created,
        "outcomes": tally_json(counted),
    }


def _print_table(rows: list[dict[str, Any]]) -> None:
    from kbtool.cli.render import safe_line, styled

    width = max(len(row["id"]) for row in rows)
    domain = None
    for row in rows:
        if row["domain"] != domain:
            domain = row["domain"]
            typer.echo(("" if row is rows[0] else "\n") + styled(domain, "bold"))
        mark = {"draft": " (draft)", "retired": " (retired)"}.get(row["status"], "")
        seen = row["outcomes"]["confirmed"]
        history = f"  {seen}× confirmed" if seen else ""
        typer.echo(f"  {row['id'].ljust(width)}  {safe_line(row['title'])}{mark}{styled(history, 'green')}")

"""`kb import`: a table that people kept becomes entries."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kbtool.cli.app import command_app

if TYPE_CHECKING:
    from kbtool.knowledge.importing import Item

app = command_app()

WORDS = {"new": "made", "draft": "made a draft", "known": "known already", "refused": "not an entry"}
WORDS_BEFORE = {"new": "would be made", "draft": "would be a draft", "known": "known already", "refused": "not an entry"}


@app.command("import")
def import_table(
    file: Annotated[str, typer.Argument(metavar="FILE", help="A Markdown table, CSV or JSON lines; `-`: standard input.")],
    domain: Annotated[str | None, typer.Option("--domain", metavar="NAME", help="Domain of rows that name none and hold no keyword of one.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would be made; write nothing.")] = False,
    no_redact: Annotated[bool, typer.Option("--no-redact", help="Keep tokens, names and addresses in the texts.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON document.")] = False,
) -> None:
    """Import a table: phenomenon | root-cause pattern | verify command, with English or Chinese headings. Importing twice changes nothing.

    Example: kb import wiki.md --dry-run
    """
    from kbtool.cli.render import print_json, safe, tell
    from kbtool.errors import ExitStatus, KbError
    from kbtool.knowledge.domains import read_domains
    from kbtool.knowledge.importing import apply_import, item_json, plan_import
    from kbtool.knowledge.layers import find_layers, writable_layer
    from kbtool.knowledge.reading import read_library
    from kbtool.knowledge.redaction import redact
    from kbtool.knowledge.tables import read_rows
    from kbtool.verification.record import refresh_index

    bases = find_layers()
    target = writable_layer(bases)
    try:
        rows = read_rows(_read(file), file)
    except ValueError as error:
        raise KbError(f"{file}: {error}", hint="the columns kb knows: phenomenon, root cause, verify command; `kb export` shows one") from None
    keep = str if no_redact else lambda text: redact(text).text
    domains = read_domains(bases)
    _refuse_a_slip(domain, [each.name for each in domains])
    items = plan_import(rows, read_library(bases).entries, domains, domain=domain, keep=keep)
    if not dry_run:
        apply_import(items, target)
        refresh_index(find_layers())
    if as_json:
        print_json({"schema": 1, "dry_run": dry_run, "base": str(target.root), "items": [item_json(item) for item in items]})
    else:
        for line in _lines(items, WORDS_BEFORE if dry_run else WORDS):
            typer.echo(safe(line))
        tell(_summary(items, dry_run))
    raise typer.Exit(ExitStatus.ERROR if any(item.fate.value == "refused" for item in items) else ExitStatus.OK)


def _refuse_a_slip(domain: str | None, names: list[str]) -> None:
    """Raise KbError for a `--domain` that is no folder's name, or looks like a slip for an existing one."""
    from kbtool.errors import KbError
    from kbtool.knowledge.schema import ID
    from kbtool.review.adding import nearest_domain

    if domain is None or domain in names:
        return
    known = f"there are {', '.join(names)}" if names else "such as data or training"
    if not ID.fullmatch(domain):
        raise KbError(f"`{domain}` is no domain's name: lower-case letters, digits and hyphens", hint=known)
    meant = nearest_domain(domain, names)
    if meant:
        raise KbError(f"there is no domain `{domain}`; did you mean `{meant}`?", hint=f"{known}; a new one begins with a page, `entries/{domain}/README.md`")


def _read(file: str) -> bytes:
    from kbtool.errors import KbError

    if file == "-":
        return sys.stdin.buffer.read()
    try:
        return Path(file).read_bytes()
    except OSError as error:
        raise KbError(f"{file}: can not be read: {error.strerror}", hint="check the name and the permissions of the file") from None


def _lines(items: list[Item], words: dict[str, str]) -> list[str]:
    lines = []
    for item in items:
        what = f"{item.domain}/{item.id}" if item.id and item.domain else item.id or item.title
        reason = f": {item.reason}" if item.reason else ""
        lines.append(f"line {item.line}: {words[item.fate.value]}: {what}{reason}")
    return lines


def _summary(items: list[Item], dry_run: bool) -> str:
    from kbtool.quantities import plural

    words = WORDS_BEFORE if dry_run else WORDS
    counts = {fate: sum(item.fate.value == fate for item in items) for fate in words}
    told = ", ".join(f"{count} {words[fate]}" for fate, count in counts.items() if count)
    return f"{plural(len(items), 'row')}: {told or 'nothing to import'}" + ("; nothing was written" if dry_run else "")


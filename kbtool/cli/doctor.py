"""`kb doctor`: is everything in place, which bases are used and why, where does state live."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from kbtool.cli.app import command_app

app = command_app()

OK, NOTE, PROBLEM = "ok", "note", "problem"
MARKS = {OK: ("✓", "green"), NOTE: ("·", "yellow"), PROBLEM: ("✗", "red")}


@app.command()
def doctor(
    fix: Annotated[bool, typer.Option("--fix", help="Mend what can be mended: the merge driver, a stale index.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the findings as JSON.")] = False,
) -> None:
    """Check the installation and say which bases are used and why. Exit 1 when there is a problem.

    Example: kb doctor --fix
    """
    from kbtool.cli.render import print_json, safe_line, styled
    from kbtool.errors import ExitStatus

    findings = _findings(fix)
    if as_json:
        print_json([{"about": about, "state": state, "text": text} for about, state, text in findings])
    else:
        for about, state, text in findings:
            typer.echo(f"{styled(*MARKS[state])} {about.ljust(13)} {safe_line(text)}")
    raise typer.Exit(ExitStatus.NEGATIVE if any(state == PROBLEM for _, state, _ in findings) else ExitStatus.OK)


def _findings(fix: bool) -> list[tuple[str, str, str]]:
    from kbtool.knowledge.layers import find_layers

    bases = find_layers()
    return [_program(), _sqlite(), *_bases(bases), *_entries(bases), *_folders(), *_merge_drivers(bases, fix), *_tools()]


def _program() -> tuple[str, str, str]:
    import platform
    import sys

    from kbtool import __version__

    return "kb", OK, f"{__version__} with Python {platform.python_version()} ({sys.executable})"


def _sqlite() -> tuple[str, str, str]:
    import sqlite3

    return "sqlite", OK, sqlite3.sqlite_version


WHY = {
    "chosen": "named by --entries or $KB_ENTRIES, so it is the only one",
    "project": "the nearest `entries` folder upward that holds a domain page",
    "user": "your own base",
    "shipped": "came with kb; an entry is copied to your own base when an outcome of its check is recorded",
}


def _bases(bases: list[Any]) -> list[tuple[str, str, str]]:
    from kbtool import settings
    from kbtool.knowledge.layers import entry_files
    from kbtool.quantities import plural

    rows = [
        ("base", OK, f"{base.root}: {plural(len(entry_files(base)), 'entry', 'entries')}, {'writable' if base.writable else 'read-only'}; {WHY[base.kind]}") for base in bases
    ]
    if not bases:
        rows.append(("base", PROBLEM, "no base of entries was found; `kb init` starts one"))
    elif not any(base.writable for base in bases):
        rows.append(("base", NOTE, f"none can be written; what you add goes to {settings.user_entries()}, which is made then"))
    return rows


def _entries(bases: list[Any]) -> list[tuple[str, str, str]]:
    from kbtool.knowledge.lint import lint_bases
    from kbtool.knowledge.problems import ERROR

    errors = [problem for problem in lint_bases(bases) if problem.level == ERROR]
    if not errors:
        return [("entries", OK, "every entry can be read")]
    return [("entries", PROBLEM, str(problem)) for problem in errors[:10]] + ([("entries", NOTE, "`kb lint` shows all")] if len(errors) > 10 else [])


def _folders() -> list[tuple[str, str, str]]:
    import os

    from kbtool import settings

    rows = []
    for name, folder, loss in (
        ("cache", settings.cache_folder(), "the index is built in memory at each call"),
        ("state", settings.state_folder(), "nothing is remembered and no check can be allowed for longer than its question"),
    ):
        nearest = folder
        while not nearest.exists() and nearest != nearest.parent:
            nearest = nearest.parent
        usable = nearest.is_dir() and os.access(nearest, os.W_OK)
        rows.append((name, OK if usable else NOTE, str(folder) if usable else f"{folder} can not be written: {loss}"))
    return rows


def _merge_drivers(bases: list[Any], fix: bool) -> list[tuple[str, str, str]]:
    from kbtool.knowledge.starting import has_merge_driver, install_merge_driver

    rows = []
    for base in bases:
        if base.kind not in ("project", "chosen") or (known := has_merge_driver(base.root)) is None:
            continue
        if not known and fix:
            known = install_merge_driver(base.root)
        text = "outcomes of two branches are united" if known else "outcomes of two branches may conflict; `kb doctor --fix` installs the driver in this clone"
        rows.append(("git merge", OK if known else NOTE, text))
    return rows


TOOLS = (
    ("nvidia-smi", "GPU facts in `kb env`"),
    ("py-spy", "stacks of a running process"),
    ("git", "history of the base"),
)
"""Programs that kb uses where they exist, and for what."""


def _tools() -> list[tuple[str, str, str]]:
    import os
    import shutil
    import sys

    beside = os.path.dirname(sys.executable)
    return [
        (name, OK, path) if (path := shutil.which(name) or shutil.which(name, path=beside)) else (name, NOTE, f"not found: no {use}")
        for name, use in TOOLS
    ]

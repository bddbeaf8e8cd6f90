"""`kb lint`: every problem of the entries, at its line."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kbtool.cli.app import command_app

if TYPE_CHECKING:
    from kbtool.knowledge.problems import Problem

app = command_app()


@app.command()
def lint(
    files: Annotated[list[Path] | None, typer.Argument(metavar="[FILE…]", help="Entry files or bases; without any, every layer that can be written.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the problems as JSON.")] = False,
) -> None:
    """Check entries for errors and give advice. Exit 1 when there is an error; warnings alone are exit 0.

    Example: kb lint entries/data/loader-shared-memory-too-small.md
    """
    from kbtool.cli.render import print_json, safe_line, tell
    from kbtool.errors import ExitStatus
    from kbtool.knowledge.problems import ERROR
    from kbtool.quantities import plural

    problems, checked = _problems(files or [])
    errors = [problem for problem in problems if problem.level == ERROR]
    if as_json:
        print_json([{"path": str(p.path), "line": p.line, "level": p.level, "message": p.message} for p in problems])
    else:
        for problem in problems:
            typer.echo(safe_line(f"{problem.path}:{problem.line}: {problem.level}: {problem.message}"))
        tell(f"{plural(checked, 'file')} checked: {plural(len(errors), 'error')}, {plural(len(problems) - len(errors), 'warning')}")
    raise typer.Exit(ExitStatus.NEGATIVE if errors else ExitStatus.OK)


def _problems(files: list[Path]) -> tuple[list[Problem], int]:
    """Problems in the order of files and lines, and how many files were looked at."""
    from kbtool.errors import KbError
    from kbtool.knowledge.layers import Base, entry_files, find_layers
    from kbtool.knowledge.lint import lint_bases, lint_file

    for file in files:
        if not file.exists():
            raise KbError(f"{file}: no such file or folder", hint="`kb list --json` names the files of every entry")
    bases = [Base(file, "chosen", True) for file in files if file.is_dir()] if files else [b for b in find_layers() if b.kind != "shipped"] or find_layers()
    problems = [problem for file in files if not file.is_dir() for problem in lint_file(file)]
    problems += list(lint_bases(bases))
    return problems, sum(not file.is_dir() for file in files) + sum(len(entry_files(base)) for base in bases)

"""The table of commands and the one parser; a command's module is imported only when that command is asked for."""

from __future__ import annotations

import importlib
import keyword
import os
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

COMMANDS: dict[str, str] = {
    "match": "find the known causes of a failure in a log or traceback",
    "verify": "run an entry's check here and record the outcome",
    "run": "run a job unchanged, watch it, explain a crash or a stall",
    "runs": "list and show the jobs that kb ran",
    "allow": "permit an entry's check to run on this machine",
    "deny": "forbid an entry's check to run on this machine",
    "learn": "teach an entry another wording of its failure",
    "add": "write down a fault while it is fresh",
    "review": "the monthly review: what to retire, repair, write up",
    "edit": "edit an entry in your editor",
    "retire": "take an entry out of the answers, or bring it back",
    "merge": "unite two entries of the same fault, with both histories",
    "rename": "give an entry another id or domain",
    "triage": "four steps for a failure nobody knows yet",
    "stats": "how many incidents, how fast, how often right",
    "tree": "the fault tree: which branch keeps producing incidents",
    "import": "import a table of faults",
    "export": "export entries as a table, CSV or JSON lines",
    "list": "list the entries",
    "show": "show an entry and its history",
    "search": "search the entries' texts",
    "probe": "look at a process, port, loader or GPU that runs",
    "env": "show the environment fingerprint",
    "lint": "check entries for errors",
    "doctor": "check the installation and say which bases are used",
    "init": "start a base of entries",
    "eval": "measure matching on labelled cases",
    "merge-driver": "",
}
"""Verb and one line of help (none: not listed). The verb names the module `kbtool.cli.<verb>`, whose `app` holds that one command."""


USAGE_ERROR: Any = typer.BadParameter.__mro__[1]
"""Click's UsageError: typer carries its own copy of click from 0.27 on, and only this class says which one is in use."""


class LazyGroup(TyperGroup):
    """Knows every command's name and help from the table, and loads a command when it is called or its own help is shown."""

    def list_commands(self, ctx: Any) -> list[str]:
        return [name for name, line in COMMANDS.items() if line]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(f"kbtool.cli.{module_name(cmd_name)}")
        command = typer.main.get_command(module.app)
        command.name = cmd_name
        return command

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, line in COMMANDS.items() if line])

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        name = args[0] if args else ""
        if name and not name.startswith("-") and name not in COMMANDS:
            raise USAGE_ERROR(_unknown(name), ctx)
        return super().resolve_command(ctx, args)


def module_name(verb: str) -> str:
    """The module of a verb: hyphens become underscores, and a word that Python keeps for itself gets one at its end."""
    name = verb.replace("-", "_")
    return f"{name}_" if keyword.iskeyword(name) else name


def _unknown(name: str) -> str:
    import difflib

    near = difflib.get_close_matches(name, COMMANDS, n=1)
    return f"no command `{name}`" + (f"; did you mean `kb {near[0]}`?" if near else "; `kb --help` lists them")


def complete_id(incomplete: str) -> list[str]:
    """The ids that begin like what was typed, for completion in a shell; whatever goes wrong there must stay silent."""
    from kbtool.errors import KbError
    from kbtool.knowledge.layers import all_entry_files, find_layers

    try:
        return [entry_id for entry_id in all_entry_files(find_layers()) if entry_id.startswith(incomplete)]
    except (KbError, OSError):
        return []


def command_app(help_line: str | None = None) -> typer.Typer:
    """A typer application for one command file, with the settings that every command shares."""
    return typer.Typer(
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
        help=help_line,
        context_settings={"help_option_names": ["-h", "--help"]},
    )


app = typer.Typer(
    cls=LazyGroup,
    name="kb",
    add_completion=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.callback(invoke_without_command=True)
def root(
    ctx: typer.Context,
    entries: Annotated[str | None, typer.Option("--entries", metavar="DIR", help="The only base to use (else $KB_ENTRIES, else the layers).")] = None,
    version: Annotated[bool, typer.Option("--version", help="Print the version and exit.")] = False,
) -> None:
    """A traceback goes in, the known cause comes out, its check runs here, the outcome is remembered."""
    if version:
        from kbtool import __version__

        typer.echo(f"kb {__version__}")
        raise typer.Exit
    if entries is not None:
        os.environ["KB_ENTRIES"] = entries
    if ctx.invoked_subcommand is None:
        typer.echo(ctx.get_help())

"""kb learn: this failure is another wording of an entry, or with --not only looks like it."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from kbtool.cli.app import command_app
from kbtool.errors import KbError

if TYPE_CHECKING:
    from kbtool.knowledge.layers import Base

app = command_app()


@app.command(epilog="Example: kb learn loader-shared-memory-too-small other.log")
def learn(
    entry_id: Annotated[str, typer.Argument(metavar="ID", help="The entry.")],
    file: Annotated[str | None, typer.Argument(metavar="[FILE]", help="The failure's log; `-` is standard input. Default: the last match.")] = None,
    wrong: Annotated[bool, typer.Option("--not", help="This failure is not ID: keep it as one that only looks like it.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON document.")] = False,
) -> None:
    """Teach an entry one more wording: the telling lines become a fence of its Symptom (or Not this) section."""
    from kbtool.cli.render import print_json, safe, safe_line
    from kbtool.knowledge.layers import find_layers
    from kbtool.matching.learning import learn as teach

    bases = find_layers()
    text = _last_excerpt(bases) if file is None else _read(file)
    learnt = teach(entry_id, text, bases, wrong=wrong)
    if as_json:
        print_json({"id": learnt.id, "path": str(learnt.path), "section": learnt.section, "added": learnt.added, "text": learnt.text})
        return
    if not learnt.added:
        print(f"{safe_line(learnt.id)} holds this text already")
        return
    what = "as a failure that only looks like it" if wrong else "as one more wording"
    print(f"added to {safe_line(str(learnt.path))} {what}:\n")
    print("\n".join("    " + safe(line) for line in learnt.text.splitlines()))


def _last_excerpt(bases: list[Base]) -> str:
    from kbtool.verification.targets import last_match

    last = last_match(bases)
    if last is None or not last.excerpt.strip():
        raise KbError("there is no last match in this terminal to learn from", hint="`kb learn ID FILE` reads the failure's log")
    return last.excerpt


def _read(name: str) -> str:
    from kbtool.matching.stream import read_stream

    try:
        if name == "-":
            reading = read_stream(sys.stdin.buffer)
        else:
            with open(name, "rb", buffering=0) as file:
                reading = read_stream(file)
    except OSError as error:
        raise KbError(f"{name}: can not be read: {error.strerror}", hint="check the name and the permissions of the file") from None
    return "\n".join(line.text for line in reading.lines)

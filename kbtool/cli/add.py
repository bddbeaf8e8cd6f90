"""`kb add`: a fault that was just solved becomes an entry, in a minute."""

from __future__ import annotations

import io
import sys
from typing import TYPE_CHECKING, Annotated

import typer

from kbtool.cli.app import command_app

if TYPE_CHECKING:
    from kbtool.cli.adding import Desk
    from kbtool.review.adding import Parts, Refusal

app = command_app()

MOST_INPUT = 64 << 20
"""Bytes of JSON that are read; a log may be longer, it is read as a stream."""


@app.command()
def add(
    file: Annotated[str | None, typer.Argument(metavar="[FILE]", help="A log of the failure; `-` or a pipe: standard input, also one JSON object.")] = None,
    id: Annotated[str, typer.Option("--id", metavar="ID", help="The entry's id; default: made of the title.")] = "",
    title: Annotated[str, typer.Option("--title", metavar="LINE", help="One line; default: the telling line of the symptom.")] = "",
    domain: Annotated[str, typer.Option("--domain", metavar="NAME", help="The domain's folder; default: by the decision table.")] = "",
    new_domain: Annotated[bool, typer.Option("--new-domain", help="The domain shall be a new one, although its name looks like another's.")] = False,
    symptom: Annotated[str, typer.Option("--symptom", metavar="TEXT", help="What the program printed; default: the last match.")] = "",
    root_cause: Annotated[str, typer.Option("--root-cause", metavar="TEXT", help="Why it happens; the first sentence is the pattern.")] = "",
    verify: Annotated[str, typer.Option("--verify", metavar="LINE", help="One line that shows whether the cause is present.")] = "",
    confirms: Annotated[str, typer.Option("--confirms", metavar="CONDITION", help="How to read its result, e.g. `stdout < 100`; else a person judges.")] = "",
    needs: Annotated[list[str] | None, typer.Option("--needs", metavar="NEED", help="What must be there for the check to answer; repeatable.")] = None,
    fix: Annotated[str, typer.Option("--fix", metavar="TEXT", help="What helped.")] = "",
    tag: Annotated[list[str] | None, typer.Option("--tag", metavar="WORD", help="Repeatable.")] = None,
    family: Annotated[str, typer.Option("--family", metavar="NAME", help="Branch of the fault tree.")] = "",
    draft: Annotated[bool, typer.Option("--draft", help="Cause and check may come later; a draft is never a strong match.")] = False,
    edit: Annotated[bool, typer.Option("--edit", "-e", help="Write it in $EDITOR, from a commented template.")] = False,
    draft_file: Annotated[str | None, typer.Option("--draft-file", metavar="FILE", help="Go on with a text that was kept.")] = None,
    no_run: Annotated[bool, typer.Option("--no-run", help="Do not run the check now.")] = False,
    no_redact: Annotated[bool, typer.Option("--no-redact", help="Keep tokens, names and addresses in the texts.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Answer with one JSON document.")] = False,
) -> None:
    """Write down a fault while it is fresh: from the last match, a log, flags, JSON on stdin, or in your editor.

    Examples: kb add · kb add < crash.log · kb add --symptom "…" --root-cause "…" --verify "df -h /tmp" --confirms "stdout contains 100%"
    """
    from kbtool.cli.adding import open_desk
    from kbtool.review.adding import Parts

    given = Parts(
        symptom=symptom,
        root_cause=root_cause,
        verify=verify,
        title=title,
        id=id,
        domain=domain,
        confirms=confirms,
        needs=_split(needs),
        fix=fix,
        tags=_split(tag),
        family=family,
        draft=draft,
        new_domain=new_domain,
    )
    desk = open_desk(redacts=not no_redact, runs=not no_run, as_json=as_json)
    parts, objections, matched = _gather(given, file, desk)
    complete = bool(parts.symptom and parts.root_cause and parts.verify) or (parts.draft and bool(parts.symptom))
    if edit or draft_file:
        from kbtool.cli.adding import write_in_editor

        write_in_editor(desk, parts, draft_file, matched)
    elif complete or as_json or not _person_is_there():
        _save_as_given(desk, parts, objections, matched)
    else:
        from kbtool.cli.interview import ask_for_parts

        ask_for_parts(desk, parts, matched)


def _split(items: list[str] | None) -> tuple[str, ...]:
    """Repeated options, each of which may hold several separated by commas."""
    return tuple(part.strip() for item in items or [] for part in item.split(",") if part.strip())


def _gather(given: Parts, file: str | None, desk: Desk) -> tuple[Parts, list[Refusal], int | None]:
    """The parts with the symptom from wherever it comes; JSON may bring all of them. Also the match it came from."""
    from dataclasses import replace

    from kbtool.review.adding import parts_from_json, telling_lines

    if given.symptom:
        return given, [], None
    text = _input(file)
    if text is None:
        last = desk.last_match()
        if last is None:
            return given, [], None
        return replace(given, symptom=last.excerpt or last.message, domain=given.domain or last.domain or ""), [], last.id
    value = _json_object(text)
    if value is None:
        return replace(given, symptom=telling_lines(text)), [], None
    parts, objections = parts_from_json(value)
    named = {name: getattr(given, name) for name in given.__dataclass_fields__ if getattr(given, name)}
    return replace(parts, **named), objections, None


def _input(file: str | None) -> str | None:
    """The text of FILE or of a pipe; None where there is neither."""
    from kbtool.errors import KbError
    from kbtool.matching.stream import read_stream

    if file in (None, "-"):
        if sys.stdin is None or sys.stdin.isatty():
            return None
        text = _piped()
        _answer_at_terminal()
        return text if text.strip() else None
    try:
        with open(str(file), "rb") as opened:
            return "\n".join(line.text for line in read_stream(opened).lines)
    except OSError as error:
        raise KbError(f"{file}: can not be read: {error.strerror}", hint="check the name and the permissions of the file") from None


def _piped() -> str:
    """Standard input: whole if it may be JSON, else as much of it as a log's telling lines need."""
    from kbtool.matching.stream import read_stream

    stream = io.BufferedReader(io.FileIO(sys.stdin.fileno(), closefd=False))
    if stream.peek(1)[:1] in (b"{", b" ", b"\n"):
        return stream.read(MOST_INPUT).decode("utf-8", "replace")
    return "\n".join(line.text for line in read_stream(stream).lines)


def _answer_at_terminal() -> None:
    """Standard input was a log: where a person sits at a terminal, their answers come from there."""
    import contextlib
    import os

    if sys.stderr.isatty():
        with contextlib.suppress(OSError):
            terminal = os.open("/dev/tty", os.O_RDWR)
            os.dup2(terminal, 0)
            os.close(terminal)
            sys.stdin = io.TextIOWrapper(io.BufferedReader(io.FileIO(0, closefd=False)), encoding="utf-8", errors="replace")


def _json_object(text: str) -> dict[str, object] | None:
    """The JSON object that the input is; None for a log."""
    import json

    if not text.lstrip().startswith("{"):
        return None
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    telling = {"symptom", "root_cause", "root-cause", "verify", "title"}
    return value if isinstance(value, dict) and telling & value.keys() else None


def _person_is_there() -> bool:
    from kbtool.cli.asking import at_terminal

    return at_terminal()


def _save_as_given(desk: Desk, parts: Parts, objections: list[Refusal], matched: int | None) -> None:
    """All objections at once, or the entry."""
    from kbtool.cli.adding import finish, refuse

    parts, found = desk.settle(parts)
    objections = [*objections, *found]
    if objections:
        refuse(desk, objections, desk.near(parts.symptom))
    finish(desk, parts, matched)

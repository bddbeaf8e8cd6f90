"""`kb edit`: an entry in the person's own editor, checked before it takes the old one's place."""

from __future__ import annotations

from typing import Annotated

import typer

from kbtool.cli.app import command_app, complete_id

app = command_app()


@app.command()
def edit(
    entry_id: Annotated[str, typer.Argument(metavar="ID", autocompletion=complete_id, help="The entry to edit.")],
) -> None:
    """Edit an entry in $EDITOR. What comes back must be an entry, else you are asked again and nothing is lost.

    Example: kb edit cuda-out-of-memory
    """
    from kbtool.cli.editor import edit as open_editor
    from kbtool.cli.editor import editor_command, keep_draft
    from kbtool.cli.render import tell
    from kbtool.knowledge.layers import find_layers
    from kbtool.knowledge.problems import EntryError
    from kbtool.review.changing import take_over

    editor_command()
    before = _bytes_of(entry_id)
    path = keep_draft(before.decode("utf-8", "replace"), entry_id)
    while True:
        open_editor(path, f"kb edit {entry_id}")
        written = path.read_bytes()
        if written == before:
            path.unlink(missing_ok=True)
            tell("nothing was changed")
            return
        try:
            changed, new_check = take_over(entry_id, written, before, find_layers())
            break
        except EntryError as error:
            _ask_again(error, str(path))
    path.unlink(missing_ok=True)
    tell(f"saved: {changed.path}", hint=f"its check is another one now: `kb allow {entry_id}` permits it" if new_check else None)


def _bytes_of(entry_id: str) -> bytes:
    """The entry's file as it is: a broken one can be edited too."""
    from kbtool.errors import KbError
    from kbtool.knowledge.layers import locate

    _, file = locate(entry_id)
    try:
        return file.path.read_bytes()
    except OSError as error:
        raise KbError(f"{file.path}: can not be read: {error.strerror}", hint="check the file's permissions") from None


def _ask_again(error: object, path: str) -> None:
    """Show what is wrong; go on only when a person wants to edit again."""
    from kbtool.cli.asking import at_terminal
    from kbtool.cli.prompting import ask_key
    from kbtool.cli.render import tell
    from kbtool.errors import ExitStatus
    from kbtool.knowledge.problems import ERROR

    for problem in getattr(error, "problems", []):
        if problem.level == ERROR:
            tell(f"kb: line {problem.line}: {problem.message}")
    if not at_terminal() or ask_key("Edit again? [Y/n] ", "yn", default="y") != "y":
        tell(f"nothing was changed; your text is kept in {path}")
        raise typer.Exit(ExitStatus.ERROR)

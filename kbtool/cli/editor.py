"""The person's own editor: a text goes in, a text comes out, and whatever happens it is kept."""

from __future__ import annotations

import os
import shlex
import subprocess
import time
from pathlib import Path

from kbtool import settings
from kbtool.durable import write_atomically
from kbtool.errors import KbError

DRAFTS_KEPT = 30


def editor_command(otherwise: str = "") -> list[str]:
    """The editor that `$VISUAL` or `$EDITOR` names. Raises KbError when neither does; `otherwise` is the way without one."""
    chosen = os.environ.get("VISUAL") or os.environ.get("EDITOR") or ""
    try:
        command = shlex.split(chosen)
    except ValueError:
        command = [chosen]
    if not command:
        raise KbError("no editor is set", hint="`export EDITOR=nano` (or another one)" + otherwise)
    return command


def keep_draft(text: str, name: str) -> Path:
    """Keep a text that is not an entry yet; returns its file in the state folder."""
    folder = settings.state_folder() / "drafts"
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    path = folder / f"{time.strftime('%Y%m%dT%H%M%S')}-{os.getpid()}-{name or 'entry'}.md"
    write_atomically(path, text.encode("utf-8", "replace"), mode=0o600)
    for old in sorted(folder.glob("*.md"))[:-DRAFTS_KEPT]:
        old.unlink(missing_ok=True)
    return path


def edit(path: Path, resume: str) -> str:
    """Open `path` in the editor and return what it holds afterwards.

    `resume` is the command that goes on with the file. Raises KbError when there is no editor, when it can not be started or when it
    fails; the file stays as it is then.
    """
    command = editor_command()
    kept = f"your text is kept in {path}"
    try:
        status = subprocess.run([*command, str(path)]).returncode
    except OSError as error:
        raise KbError(f"the editor `{command[0]}` can not be started: {error.strerror}; {kept}", hint=f"set EDITOR, then `{resume}`") from None
    if status:
        raise KbError(f"the editor `{command[0]}` ended with status {status}; {kept}", hint=f"`{resume}` goes on with it")
    return path.read_text(encoding="utf-8", errors="replace")

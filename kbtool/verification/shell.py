"""The surroundings of a check: the user's own PATH and python, a steady language of messages, and the prefix that leads elsewhere.

kb often runs from a virtual environment of its own. A check must see what the training job sees, so that environment is taken out of
PATH; and because many systems only have `python3`, a folder with a `python` is put at PATH's end where none is found.
"""

from __future__ import annotations

import contextlib
import os
import shlex
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from kbtool import settings

PYTHON_VARIABLE = "KB_PYTHON"
"""Names the python of the environment to check, where PATH does not lead to it."""

REPARSED_BY = ("ssh", "rsh", "pdsh", "gcloud")
"""Prefixes that hand their arguments to a second shell as one text: for them the command is quoted twice."""

MESSAGE_LOCALE = "C"
"""Messages of the shell are read for signs of a broken check, and numbers need a decimal point: both in this locale."""

_PLAIN_LOCALES = ("", "C", "POSIX", "C.UTF-8", "en_US.UTF-8")


@dataclass(frozen=True)
class Surroundings:
    """Where and with what a check runs. `via` is a command prefix such as ``docker exec C``; empty for this machine."""

    environment: Mapping[str, str]
    folder: str | None = None
    via: str = ""
    scratch: bool = False
    """True when the check shall run in an empty temporary folder."""


def user_environment(base: Mapping[str, str] | None = None) -> dict[str, str]:
    """The caller's variables, without kb's private virtual environment in PATH."""
    environment = dict(os.environ if base is None else base)
    environment["PATH"] = _user_path(environment)
    return environment


def with_steady_messages(variables: Mapping[str, str]) -> dict[str, str]:
    """The same variables with messages in English and a decimal point; what the locale says of characters stays."""
    environment = dict(variables)
    if environment.get("LC_ALL", "") not in _PLAIN_LOCALES:
        chosen = environment.pop("LC_ALL")
        environment.update(LANG=chosen, LC_CTYPE=chosen)
    environment.update(LC_MESSAGES=MESSAGE_LOCALE, LC_NUMERIC=MESSAGE_LOCALE)
    environment.pop("LANGUAGE", None)
    return environment


def _user_path(environment: Mapping[str, str]) -> str:
    path = environment.get("PATH") or os.defpath
    private = _private_environment()
    if private is None or environment.get("VIRTUAL_ENV") == str(private):
        return path
    folder = os.path.realpath(private / ("Scripts" if os.name == "nt" else "bin"))
    kept = os.pathsep.join(part for part in path.split(os.pathsep) if os.path.realpath(part) != folder)
    has_python = any(shutil.which(name, path=kept) for name in ("python", "python3"))
    return kept if has_python else path


def _private_environment() -> Path | None:
    """The virtual environment that the launcher made beside a source checkout; one the user installed kb into is the user's own."""
    beside = Path(__file__).resolve().parent.parent.parent / ".venv"
    return beside if sys.prefix != sys.base_prefix and os.path.realpath(sys.prefix) == os.path.realpath(beside) else None


def find_python(environment: Mapping[str, str]) -> str | None:
    """The python that a check means by `python`: `$KB_PYTHON`, else PATH's `python`, else its `python3`."""
    chosen = environment.get(PYTHON_VARIABLE)
    if chosen:
        return shutil.which(chosen, path=environment.get("PATH"))
    return next((found for name in ("python", "python3") if (found := shutil.which(name, path=environment.get("PATH")))), None)


@contextlib.contextmanager
def with_python(environment: Mapping[str, str]) -> Iterator[dict[str, str]]:
    """The same variables with a PATH on which `python` works, if there is any python; nothing stays behind on disk."""
    python = find_python(environment)
    chosen = bool(environment.get(PYTHON_VARIABLE))
    if python is None or (not chosen and shutil.which("python", path=environment.get("PATH"))):
        yield dict(environment)
        return
    with _scratch_folder() as folder:
        if folder is None:
            yield dict(environment)
            return
        for name in ("python", "python3") if chosen else ("python",):
            _write_shim(Path(folder) / name, python)
        path = environment.get("PATH", "")
        parts = (folder, path) if chosen else (path, folder)
        yield {**environment, "PATH": os.pathsep.join(parts)}


def _write_shim(shim: Path, python: str) -> None:
    shim.write_text(f'#!/bin/sh\nexec {shlex.quote(python)} "$@"\n', encoding="utf-8")  # a link would hide a virtual environment from its python
    shim.chmod(0o755)


@contextlib.contextmanager
def _scratch_folder() -> Iterator[str | None]:
    """An empty folder for a moment, or None where nothing can be written: an unwritable /tmp is a fault that checks look for."""
    folder: str | None = None
    for place in (None, str(settings.cache_folder()), "/dev/shm"):
        try:
            if place == str(settings.cache_folder()):
                os.makedirs(place, exist_ok=True)
            folder = tempfile.mkdtemp(prefix="kb-check-", dir=place)
            break
        except OSError:
            continue
    try:
        yield folder
    finally:
        if folder is not None:
            shutil.rmtree(folder, ignore_errors=True)


@contextlib.contextmanager
def working_folder(surroundings: Surroundings) -> Iterator[str | None]:
    """The folder a check runs in: the caller's, the named one, or an empty one that is removed afterwards."""
    if not surroundings.scratch:
        yield surroundings.folder
        return
    with _scratch_folder() as folder:
        yield folder


def shell_program(command: str, via: str = "") -> list[str] | None:
    """The program and arguments that run `command`, elsewhere if `via` says so; None where there is no POSIX shell."""
    shell = "/bin/sh" if os.path.exists("/bin/sh") else shutil.which("sh")
    if shell is None:
        return None
    return [shell, "-c", prefixed(via, ["/bin/sh", "-c", command]) if via else command]


def prefixed(via: str, program: Sequence[str]) -> str:
    """One shell line that runs `program` behind the prefix `via`."""
    line = shlex.join(program)
    words = shlex.split(via)
    if words and os.path.basename(words[0]) in REPARSED_BY:
        line = shlex.quote(line)
    return f"{via} {line}"


@dataclass(frozen=True)
class RunContext:
    """What `kb run` knows of the job whose failure is checked: its folder, its interpreter, its variables."""

    folder: str = ""
    python: str = ""
    variables: Mapping[str, str] = field(default_factory=dict)


def surroundings_of(context: RunContext | None = None, *, via: str = "", scratch: bool = False) -> Surroundings:
    """The surroundings for a check: those of the job `kb run` saw where there is one, else the caller's."""
    context = context or RunContext()
    environment = user_environment({**os.environ, **context.variables})
    if context.python:
        environment[PYTHON_VARIABLE] = context.python
    folder = context.folder if context.folder and os.path.isdir(context.folder) else None
    return Surroundings(environment, folder, via, scratch)

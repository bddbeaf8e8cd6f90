"""Runs a script in a process of its own that already has torch: importing it costs more than most reproductions do.

A server imports torch once and forks for each script; the child becomes what a fresh ``python train.py`` would be: its folder, variables,
output, argument, ``__main__`` and traceback. Scripts with surroundings, or that start programs, get a fresh interpreter instead.
"""

from __future__ import annotations

import multiprocessing
import os
import runpy
import signal
import sys
import types
from collections.abc import Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

HERE = Path(__file__).resolve().parent
COLD_SIGNS = ("execvp", "subprocess", "multiprocessing", "sys.executable", "torch.distributed")
"""A script that names one of these starts or becomes another process; it runs in a fresh interpreter."""

_server = multiprocessing.get_context("forkserver") if "forkserver" in multiprocessing.get_all_start_methods() else None
if _server:
    _server.set_forkserver_preload(["torch", "torch.utils.data"])


def suits(script: Path) -> bool:
    """Whether the script can be run by a fork of the server."""
    text = script.read_text(encoding="utf-8")
    return _server is not None and "import torch" in text.replace("from torch", "import torch") and not any(sign in text for sign in COLD_SIGNS)


def run(job: Path, environment: Mapping[str, str], seconds: float) -> tuple[int, str]:
    """Exit code and output of ``train.py`` in `job`. Raises TimeoutError; nothing of it is left running either way."""
    assert _server
    printed = job.parent / "printed"
    process = _server.Process(target=_become, args=(str(job), dict(environment), str(printed)))
    with _one_thread():
        process.start()
    try:
        process.join(seconds)
        if process.exitcode is None:
            raise TimeoutError(f"{job}/train.py did not end within {seconds:g} s")
    finally:
        with suppress(ProcessLookupError, PermissionError, TypeError):
            os.killpg(process.pid, signal.SIGKILL)  # type: ignore[arg-type]
    return process.exitcode or 0, printed.read_text(encoding="utf-8", errors="backslashreplace")


@contextmanager
def _one_thread():  # type: ignore[no-untyped-def]
    """The server reads OMP_NUM_THREADS when it imports torch, which is when the first process starts."""
    before = os.environ.get("OMP_NUM_THREADS")
    os.environ["OMP_NUM_THREADS"] = "1"
    try:
        yield
    finally:
        del os.environ["OMP_NUM_THREADS"]
        if before is not None:
            os.environ["OMP_NUM_THREADS"] = before


def _become(job: str, environment: dict[str, str], printed: str) -> None:
    """Be ``python train.py`` in the folder `job`: what a fresh interpreter sets up is set up again."""
    os.setsid()
    os.chdir(job)
    os.environ.clear()
    os.environ.update(environment)
    _print_to(printed)
    script = os.path.join(job, "train.py")
    sys.argv = ["train.py"]
    sys.path[:] = [job, *(part for part in sys.path if part not in ("", str(HERE)))]
    main = sys.modules["__main__"] = types.ModuleType("__main__")
    main.__file__ = script
    witness = runpy.run_path(str(HERE / "witness" / "sitecustomize.py")) if "KB_WITNESS" in environment else None
    code = _execute(script, main)
    if witness:
        witness["_testify"]()
    sys.stdout.flush()
    raise SystemExit(code)


def _execute(script: str, main: types.ModuleType) -> int:
    """Run the script's text as `main`; an exception is shown as the interpreter would show it."""
    try:
        exec(compile(Path(script).read_text(encoding="utf-8"), script, "exec"), vars(main))
    except SystemExit as error:
        return error.code if isinstance(error.code, int) else 0 if error.code is None else 1
    except BaseException as error:
        below = error.__traceback__.tb_next if error.__traceback__ else None
        sys.excepthook(type(error), error.with_traceback(below), below)
        return 1
    return 0


def _print_to(path: str) -> None:
    """Both outputs go to the file, at once, in UTF-8."""
    target = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.dup2(target, 1)
    os.dup2(target, 2)
    sys.stdout = open(1, "w", encoding="utf-8", buffering=1, closefd=False)
    sys.stderr = open(2, "w", encoding="utf-8", errors="backslashreplace", buffering=1, closefd=False)

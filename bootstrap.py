"""Make or mend the environment `.venv` of a checkout: `bootstrap.py CHECKOUT [PIP ARGUMENT…]`.

Used by the launcher `kb` and by `tests/run`; standard library only, since nothing is installed yet. Safe when several start at once:
one works, the others wait. Everything is said on stderr.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

SIGN_OF_LIFE = 10.0
"""Seconds between two lines on what pip does, where there is no terminal to show each."""


class SetUpError(Exception):
    """The environment could not be made; the message says why and what helps."""


def main() -> int:
    """Set up the checkout named by the first argument; further arguments are given to `pip install` beside `-e CHECKOUT`."""
    checkout, extra = Path(sys.argv[1]), sys.argv[2:]
    try:
        with one_at_a_time(checkout / ".venv-set-up.lock"):
            if extra or not is_ready(checkout):
                set_up(checkout, extra)
    except (SetUpError, OSError) as error:
        tell(f"kb: {error}")
        return 2
    except KeyboardInterrupt:
        return 130
    return 0


@contextlib.contextmanager
def one_at_a_time(path: Path) -> Iterator[None]:
    """Hold a lock that the kernel frees when this process ends in whatever way."""
    try:
        import fcntl
    except ImportError:
        yield
        return
    with open(path, "w", encoding="ascii") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            tell("kb: another start is setting up .venv; waiting for it")
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


def is_ready(checkout: Path) -> bool:
    """True when the environment was made for this place and this pyproject.toml: the same test that the launcher makes."""
    ready, project = checkout / ".venv" / ".kb-ready", checkout / "pyproject.toml"
    try:
        return (
            os.access(python_of(checkout), os.X_OK)
            and os.path.samefile(ready.read_text(encoding="utf-8").splitlines()[0], checkout)
            and ready.stat().st_mtime_ns == project.stat().st_mtime_ns
        )
    except (OSError, IndexError):
        return False


def python_of(checkout: Path) -> Path:
    """The environment's interpreter."""
    return checkout / ".venv" / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def set_up(checkout: Path, extra: list[str]) -> None:
    """Make the environment, install kb into it, and leave the mark that it is ready."""
    begun = time.monotonic()
    tell(f"kb: setting up {checkout / '.venv'}: mostly under a minute, and not at the next start")
    project = checkout / "pyproject.toml"
    before = project.stat()
    if not works(python_of(checkout)):
        make_environment(checkout)
    install(checkout, extra)
    compile_bytecode(checkout)
    ready = checkout / ".venv" / ".kb-ready"
    ready.write_text(f"{checkout}\n", encoding="utf-8")
    os.utime(ready, ns=(before.st_atime_ns, before.st_mtime_ns))
    tell(f"kb: ready after {time.monotonic() - begun:.0f} s")


def works(python: Path) -> bool:
    """True when this interpreter starts and has pip."""
    try:
        return subprocess.run([python, "-c", "import pip"], capture_output=True, stdin=subprocess.DEVNULL).returncode == 0
    except OSError:
        return False


def make_environment(checkout: Path) -> None:
    """A fresh virtual environment."""
    tell("kb: making the environment")
    done = subprocess.run([sys.executable, "-m", "venv", "--clear", str(checkout / ".venv")], capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if done.returncode != 0:
        last = (done.stdout + done.stderr).strip().splitlines()[-1:] or ["no message"]
        raise SetUpError(
            f"`{sys.executable} -m venv` failed: {last[0]}\nhint: on Debian and Ubuntu `apt install python3-venv` brings venv and pip;"
            " elsewhere install a Python that has them"
        )


def install(checkout: Path, extra: list[str]) -> None:
    """Install kb (from its source, so that edits count) and whatever else was asked for."""
    what = extra or ["-e", str(checkout)]
    command = [str(python_of(checkout)), "-m", "pip", "install", "--disable-pip-version-check", "--no-input", *what]
    tell("kb: installing kb and the packages it needs")
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, text=True, errors="replace") as pip:
        assert pip.stdout is not None
        tail = [line.rstrip() for line in show_progress(pip.stdout)][-15:]
    if pip.returncode != 0:
        raise SetUpError("pip could not install kb:\n  " + "\n  ".join(tail) + "\nhint: is the package index reachable? `kb` tries again at its next start")


def compile_bytecode(checkout: Path) -> None:
    """Compile kb's modules now: where PYTHONDONTWRITEBYTECODE is set, as in many containers, every start would compile them again."""
    package = str(checkout / "kbtool")
    subprocess.run([python_of(checkout), "-m", "compileall", "-q", package], stdout=sys.stderr, stdin=subprocess.DEVNULL)


def show_progress(lines: Iterator[str]) -> Iterator[str]:
    """Pass lines through; on a terminal the newest one is shown, each over the last, elsewhere one every `SIGN_OF_LIFE` seconds."""
    live, begun = sys.stderr.isatty(), time.monotonic()
    told = begun
    for line in lines:
        now = time.monotonic()
        if live:
            sys.stderr.write(f"\r\x1b[K{now - begun:3.0f} s  {line.strip()[:70]}")
            sys.stderr.flush()
        elif now - told >= SIGN_OF_LIFE:
            told = now
            tell(f"kb: {now - begun:.0f} s: {line.strip()[:90]}")
        yield line
    if live:
        sys.stderr.write("\r\x1b[K")


def tell(message: str) -> None:
    """Talk goes to stderr: stdout belongs to the command's answer."""
    sys.stderr.write(message + "\n")
    sys.stderr.flush()


if __name__ == "__main__":
    sys.exit(main())

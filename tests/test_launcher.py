"""The launcher `kb` of a checkout: becomes the program at once, sets up when it must, and says what is missing.

A whole set-up needs the package index and is what `tests/run` itself begins with; here the environment is borrowed or pip is kept offline.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent

pytestmark = pytest.mark.skipif(os.name == "nt", reason="the launcher is a POSIX shell script")


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A copy of the checkout without an environment."""
    copy = tmp_path / "check out"
    copy.mkdir()
    for name in ("kb", "bootstrap.py", "pyproject.toml", "README.md", "LICENSE"):
        shutil.copy2(ROOT / name, copy / name)
    for name in ("kbtool", "entries"):
        shutil.copytree(ROOT / name, copy / name)
    return copy


@pytest.fixture
def ready(checkout: Path) -> Path:
    """The copy with an environment that borrows this one's packages, marked ready."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(checkout / ".venv")], check=True)
    site = next((checkout / ".venv" / "lib").glob("python*/site-packages"))
    (site / "borrowed.pth").write_text(f"{checkout}\n{sysconfig.get_paths()['purelib']}\n{sysconfig.get_paths()['platlib']}\n")
    mark_ready(checkout)
    return checkout


def mark_ready(checkout: Path) -> None:
    mark = checkout / ".venv" / ".kb-ready"
    mark.write_text(f"{checkout}\n")
    shutil.copystat(checkout / "pyproject.toml", mark)


def start(launcher: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(launcher), *arguments], capture_output=True, text=True, stdin=subprocess.DEVNULL, env={**os.environ, **environment}, timeout=300
    )


def test_a_ready_checkout_starts_at_once(ready: Path) -> None:
    """With the mark in place the launcher becomes the program of its own checkout and says nothing."""
    done = start(ready / "kb", "--version")

    assert (done.returncode, done.stdout.split()[0], done.stderr) == (0, "kb", "")


def test_a_link_to_the_launcher_works(ready: Path, tmp_path: Path) -> None:
    """A symbolic link in a folder of the PATH, also a relative one, finds its checkout and that it is ready."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "kb").symlink_to(os.path.relpath(ready / "kb", tmp_path / "bin"))

    done = start(tmp_path / "bin" / "kb", "--version", PIP_NO_INDEX="1")

    assert (done.returncode, done.stdout.split()[0], done.stderr) == (0, "kb", "")


def test_arguments_and_exit_codes_pass(ready: Path) -> None:
    """Arguments arrive unsplit and the program's exit code is the launcher's."""
    done = start(ready / "kb", "show", "no such id")

    assert done.returncode == 1
    assert "`no such id`" in done.stderr


@pytest.mark.parametrize("change", ["pyproject", "moved", "interpreter"])
def test_a_change_sets_up_again(ready: Path, change: str) -> None:
    """A changed pyproject.toml, a moved checkout or a vanished interpreter leads to a new set-up; without an index that fails with a sentence."""
    if change == "pyproject":
        os.utime(ready / "pyproject.toml", (1, 1))
    elif change == "moved":
        ready = ready.rename(ready.with_name("moved"))
    else:
        (ready / ".venv" / "bin" / "python").unlink()
        (ready / ".venv" / "bin" / "python").symlink_to("/nowhere/python")
    done = start(ready / "kb", "--version", PIP_NO_INDEX="1", PIP_FIND_LINKS="")

    assert (done.returncode, done.stdout) == (2, "")
    assert "kb: installing kb" in done.stderr
    assert "pip could not install kb" in done.stderr
    assert "Traceback" not in done.stderr


def test_an_old_python_is_a_sentence(checkout: Path, tmp_path: Path) -> None:
    """Where only an older Python is found, one sentence says what is needed and what is there."""
    old = tmp_path / "old"
    old.mkdir()
    (old / "python3").write_text('#!/bin/sh\n[ "$1" = --version ] && echo "Python 3.9.1" && exit 0\nexit 1\n')
    (old / "python3").chmod(0o755)
    for tool in ("sh", "readlink"):
        (old / tool).symlink_to(str(shutil.which(tool)))
    done = start(checkout / "kb", "--version", PATH=str(old))

    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "kb: needs Python 3.10 or newer; found Python 3.9.1\n"


def test_a_python_without_venv_is_a_sentence(checkout: Path, tmp_path: Path) -> None:
    """A Python that can not make environments is named, with what to install."""
    crippled = tmp_path / "crippled"
    crippled.mkdir()
    (crippled / "venv.py").write_text("raise SystemExit('ensurepip is not available')\n")
    done = start(checkout / "kb", "--version", PYTHONPATH=str(crippled))

    assert (done.returncode, done.stdout) == (2, "")
    assert "-m venv` failed: ensurepip is not available" in done.stderr
    assert "apt install python3-venv" in done.stderr


def test_two_starts_wait_for_each_other(ready: Path) -> None:
    """While one start holds the set-up, another waits, says so, and finds the environment ready."""
    import fcntl

    os.utime(ready / "pyproject.toml", (1, 1))
    with open(ready / ".venv-set-up.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        second = subprocess.Popen([str(ready / "kb"), "--version"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        assert second.stderr is not None
        assert "waiting for it" in second.stderr.readline()
        mark_ready(ready)
    out, err = second.communicate(timeout=120)

    assert (second.returncode, out.split()[0], err) == (0, "kb", "")

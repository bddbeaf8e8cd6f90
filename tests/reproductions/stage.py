"""Gives one script of a reproduction a stage of its own: a job folder, an environment, surroundings; and runs commands on it.

``python tests/reproductions/stage.py ID [faulty|mended] [-- COMMAND…]`` shows by hand what the tests see.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import warm  # noqa: E402  (lies beside this file, which also runs by hand)

MODES = ("faulty", "mended")
ALL = bool(os.environ.get("KB_ALL_REPRODUCTIONS"))
"""Whether slow reproductions run too, and every script in a fresh interpreter; read once, because tests clear such variables."""

SECONDS = 120.0
"""Deadline of one command; a reproduction that needs longer than a few seconds on an idle machine is too slow."""


@dataclass(frozen=True)
class Ran:
    """How a command on the stage ended; `output` is stdout and stderr together, in the order in which they were printed."""

    exit_code: int
    output: str


@dataclass(frozen=True)
class Stage:
    """A job folder with the script as ``train.py``, and what has to be around a command that runs there."""

    folder: Path
    mode: str
    job: Path

    @property
    def environment(self) -> dict[str, str]:
        """A plain environment: this interpreter first on PATH, a home of its own, one thread for each process."""
        kept = {name: os.environ[name] for name in ("SYSTEMROOT",) if name in os.environ}
        return kept | {
            "VIRTUAL_ENV": sys.prefix,  # activated, as a person would: kb takes its python from PATH then
            "PATH": os.pathsep.join((str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath))),
            "HOME": str(self.job.parent),
            "XDG_STATE_HOME": str(self.job.parent / "state"),
            "LANG": "C.UTF-8",
            "OMP_NUM_THREADS": "1",
            "PYTHONUNBUFFERED": "1",
            "PYTHONDONTWRITEBYTECODE": "1",
            "NO_COLOR": "1",
        }

    def run(self, command: Sequence[str], *, variables: Mapping[str, str] | None = None, seconds: float = SECONDS) -> Ran:
        """Run `command` in the job folder, inside the surroundings where the reproduction has some.

        Raises `subprocess.TimeoutExpired`; whatever the command left running is ended either way.
        """
        around = self.folder / "surroundings.sh"
        prefix = ["sh", str(around), self.mode] if around.exists() else []
        process = subprocess.Popen(
            [*prefix, *command],
            cwd=self.job,
            env=self.environment | dict(variables or {}),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            encoding="utf-8",
            errors="backslashreplace",
        )
        try:
            output, _ = process.communicate(timeout=seconds)
        finally:
            _end_session(process)
        return Ran(process.returncode, output)

    def run_script(self, *, expression: str | None = None) -> Ran:
        """Run the reproduction's script of this mode; `expression`, a Python check, is evaluated where it ends (see `witness`)."""
        testimony = {"KB_WITNESS": expression, "KB_WITNESS_TO": str(self.verdict_file)} if expression else {}
        cold = ALL or "cold" in needs(self.folder) or (self.folder / "surroundings.sh").exists()
        if not cold and warm.suits(self.job / "train.py"):
            return Ran(*warm.run(self.job, self.environment | testimony, SECONDS))
        if testimony:
            testimony["PYTHONPATH"] = str(HERE / "witness")
        return self.run(["python", "train.py"], variables=testimony)

    @property
    def verdict_file(self) -> Path:
        """Where the witness writes the verdict of a Python check."""
        return self.job.parent / "verdict"


@contextmanager
def stage(folder: Path, mode: str) -> Iterator[Stage]:
    """Set up the job folder of `folder`'s script for `mode`, and clear it away afterwards."""
    with tempfile.TemporaryDirectory(prefix="kb-stage-") as root:
        job = Path(root, "job")
        files = folder / "files"
        if files.is_dir():
            shutil.copytree(files, job)
        job.mkdir(exist_ok=True)
        shutil.copy(folder / f"{mode}.py", job / "train.py")
        yield Stage(folder, mode, job)


def needs(folder: Path) -> list[str]:
    """The words of the reproduction's ``needs`` file: `module:NAME`, `dist:NAME`, `absent:NAME`, `command:NAME`, `linux`, `mount`, `cgroup`, `cpubuild`, `slow`, `cold`."""
    path = folder / "needs"
    return path.read_text(encoding="utf-8").split() if path.exists() else []


def unmet(folder: Path) -> str | None:
    """Why the reproduction cannot run here, or None."""
    for need in needs(folder):
        kind, _, name = need.partition(":")
        if kind == "module" and importlib.util.find_spec(name) is None:
            return f"needs the module {name}"
        if kind == "command" and shutil.which(name) is None:
            return f"needs the command {name}"
        if kind == "dist" and not _is_installed(name):
            return f"needs the distribution {name}"
        if kind == "cpubuild" and not _is_cpu_build():
            return "needs a torch that was built without CUDA"
        if kind == "absent" and importlib.util.find_spec(name) is not None:
            return f"needs the module {name} to be absent"
        if kind == "cgroup" and not _may_limit_memory():
            return "needs the right to make a control group with a memory limit"
        if kind == "linux" and sys.platform != "linux":
            return "needs Linux"
        if kind == "slow" and not ALL:
            return "slow: runs with tests/run --all-reproductions"
        if kind == "mount" and not _may_mount():
            return "needs the right to mount in a namespace of its own (unshare -m)"
    return None


def _is_installed(distribution: str) -> bool:
    try:
        importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        return False
    return True


def _is_cpu_build() -> bool:
    """Whether torch is here and was built without CUDA; read from its version file, because importing it takes seconds."""
    spec = importlib.util.find_spec("torch")
    version = Path(spec.origin).with_name("version.py") if spec and spec.origin else None
    return version is not None and re.search(r"^cuda\b.*= None$", version.read_text(encoding="utf-8"), re.MULTILINE) is not None


def _may_mount() -> bool:
    if shutil.which("unshare") is None:
        return False
    return subprocess.run(["unshare", "-m", "sh", "-c", "mount -t tmpfs none /mnt"], capture_output=True).returncode == 0


def _may_limit_memory() -> bool:
    """Whether a control group with a memory limit can be made below the root group, version 1 or 2."""
    root = Path("/sys/fs/cgroup")
    parent, limit = (root, "memory.max") if (root / "cgroup.controllers").exists() else (root / "memory", "memory.limit_in_bytes")
    group = parent / f"kb-stage-probe-{os.getpid()}"
    try:
        group.mkdir()
        (group / limit).write_text("1G")
    except OSError:
        return False
    finally:
        with suppress(OSError):
            group.rmdir()
    return True


def _end_session(process: subprocess.Popen[str]) -> None:
    """End everything that the command started in its session and left behind."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def main(arguments: list[str]) -> int:
    """Show a script's output, or that of a command run after the script on the same stage."""
    name, *rest = arguments
    mode = rest.pop(0) if rest and rest[0] in MODES else "faulty"
    with stage(HERE / name, mode) as on:
        ran = on.run_script()
        print(ran.output, f"[exit {ran.exit_code}]", sep="")
        if rest[:1] == ["--"]:
            ran = on.run(rest[1:])
            print(ran.output, f"[exit {ran.exit_code}]", sep="")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))

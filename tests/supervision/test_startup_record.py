"""The startup record sees imports and swallowed exceptions, and the job can not tell that it is there."""

from __future__ import annotations

import json
import os
import resource
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from kbtool.supervision.startup_record import ProcessRecord, StartupRecords, prepare


def works(python: str) -> bool:
    """True for an interpreter that is really there: version managers leave stand-ins that only say they are not."""
    found = shutil.which(python)
    return found is not None and subprocess.run([found, "-c", "pass"], capture_output=True).returncode == 0


PYTHONS = [python for version in ("8", "9", "10", "11", "12", "13", "14") if works(python := f"python3.{version}")] or [sys.executable]
UNKNOWN_PYTHONS = [python for version in ("2.7", "3.6", "3.7") if works(python := f"python{version}")]

SWALLOWS = {
    "pack/__init__.py": "try:\n    from pack import deep\nexcept Exception:\n    pass\n",
    "pack/deep.py": "from pack import settings\n",
    "pack/settings.py": "import os\nHOME = os.environ['PACK_HOME']\n",
}

DIES = {
    "main.py": "import outer\n",
    "outer.py": "def load():\n    import inner\nload()\n",
    "inner.py": "raise RuntimeError('no luck')\n",
    "syntax.py": "def broken(:\n",
    "missing.py": "import not_there_at_all\n",
    "late.py": "import importlib\nimportlib.import_module('inner')\n",
    "threads.py": "import threading\nthread = threading.Thread(target=lambda: __import__('inner'))\nthread.start()\nthread.join()\nimport missing\n",
}


def write(folder: Path, files: dict[str, str]) -> Path:
    """Lay out a small program."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


def recorded(folder: Path, command: list[str], *, cwd: Path, **variables: str) -> tuple[subprocess.CompletedProcess[bytes], StartupRecords]:
    """Run a command with the record on; what it printed, and the records of its processes."""
    folder.mkdir(exist_ok=True)
    environment = prepare({**os.environ, **variables}, folder)
    done = subprocess.run(command, cwd=cwd, env=environment, capture_output=True, timeout=60)
    records = StartupRecords(folder)
    records.update()
    return done, records


def only(records: StartupRecords) -> ProcessRecord:
    """The one record there is."""
    assert len(records.by_pid) == 1
    return next(iter(records.by_pid.values()))


def test_swallowed_exception_is_recorded(tmp_path: Path) -> None:
    """An exception that an import raised and a handler swallowed is known with its module, its variable and who swallowed it."""
    _, records = recorded(tmp_path / "run", [sys.executable, "-c", "import pack"], cwd=write(tmp_path / "job", SWALLOWS))
    failure = only(records).failures[0]
    assert (failure.module, failure.type, failure.names) == ("pack.settings", "KeyError", ("PACK_HOME",))
    assert failure.at.endswith("settings.py:2 in <module>")
    assert failure.modules == ["pack.settings", "pack.deep"] and failure.imported_by.endswith("pack/__init__.py:2")


def test_missing_optional_modules_are_only_counted(tmp_path: Path) -> None:
    """A module that is not installed is no failure, however many modules fall with it."""
    job = write(tmp_path / "job", {"wrapper.py": "import not_there_at_all\n"})
    code = "for _ in range(1000):\n try: import wrapper\n except ImportError: pass"
    _, records = recorded(tmp_path / "run", [sys.executable, "-c", code], cwd=job)
    record = only(records)
    assert record.failures == [] and {"not_there_at_all", "wrapper"} <= record.missing
    assert record.path.stat().st_size < 20_000


def test_import_in_progress_is_known(tmp_path: Path) -> None:
    """A process killed in the middle of an import has left the chain of imports it was in."""
    job = write(tmp_path / "job", {"a.py": "import b\n", "b.py": "import c\nimport os\nos.kill(os.getpid(), 9)\n", "c.py": ""})
    _, records = recorded(tmp_path / "run", [sys.executable, "-c", "import a"], cwd=job)
    importing = only(records).in_progress()
    assert importing is not None and (importing.module, importing.chain) == ("b", ("a", "b"))


def test_versions_are_noted_as_packages_are_imported(tmp_path: Path) -> None:
    """A package's version is in the record once it is imported, without its module's own `__getattr__` being asked."""
    files = {"lib.py": "__version__ = '1.2.3'\n", "lazy.py": "def __getattr__(name):\n    raise SystemExit('asked')\n"}
    done, records = recorded(tmp_path / "run", [sys.executable, "-c", "import lib, lazy"], cwd=write(tmp_path / "job", files))
    assert done.returncode == 0 and only(records).versions["lib"] == "1.2.3"


@pytest.mark.parametrize("program", ["main.py", "late.py", "syntax.py", "missing.py", "threads.py"])
@pytest.mark.parametrize("python", PYTHONS, ids=os.path.basename)
def test_tracebacks_are_unchanged(python: str, program: str, tmp_path: Path) -> None:
    """What a program prints when an import fails is byte for byte what it prints without kb, on every Python at hand."""
    job = write(tmp_path / "job", DIES)
    plain = subprocess.run([python, program], cwd=job, capture_output=True, timeout=60)
    done, _ = recorded(tmp_path / "run", [python, program], cwd=job)
    assert (done.returncode, done.stdout, done.stderr) == (plain.returncode, plain.stdout, plain.stderr)


def test_job_sees_nothing_of_it(tmp_path: Path) -> None:
    """sys.path, finders, loaders, open descriptors and the signals that Python knows are what they are without kb."""
    code = (
        "import sys, os, signal, json; import xml.dom as m\n"
        "print(json.dumps([sys.path, [getattr(f, '__name__', type(f).__name__) for f in sys.meta_path], type(m.__spec__.loader).__name__, sorted(os.listdir('/proc/self/fd'))[:4],"
        " [str(signal.getsignal(n)) for n in range(1, 32)], len(sys.argv), os.open('/dev/null', 0)]))"
    )
    plain = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, timeout=60)
    done, _ = recorded(tmp_path / "run", [sys.executable, "-c", code], cwd=tmp_path)
    assert json.loads(done.stdout) == json.loads(plain.stdout)


def test_hidden_sitecustomize_still_runs(tmp_path: Path) -> None:
    """The sitecustomize that would have run without kb runs, its exception is reported as Python does, and `sys.modules` holds it."""
    site = write(tmp_path / "site", {"sitecustomize.py": "import sys\nprint('theirs', file=sys.stderr)\nMARK = 1\n"})
    code = "import sitecustomize; print(sitecustomize.MARK)"
    done, records = recorded(tmp_path / "run", [sys.executable, "-c", code], cwd=tmp_path, PYTHONPATH=str(site))
    assert (done.stdout, done.stderr) == (b"1\n", b"theirs\n") and only(records).start["pid"]


@pytest.mark.parametrize("locale", ["C", "POSIX"])
def test_record_is_ascii_in_any_locale(locale: str, tmp_path: Path) -> None:
    """Names and values in any script are written as ASCII, also where the locale knows no other characters."""
    job = write(tmp_path / "подходит", {"模块.py": "raise ValueError('плохо \\ud800')\n"})
    code = "try: __import__('模块')\nexcept ValueError: pass"
    _, records = recorded(tmp_path / "run", [sys.executable, "-c", code], cwd=job, LC_ALL=locale, TORCH_NOTE="größe")
    record = only(records)
    assert record.path.read_bytes().isascii()
    assert record.failures[0].module == "模块" and record.variables["TORCH_NOTE"] == "größe"


def test_forked_and_spawned_processes_have_their_own(tmp_path: Path) -> None:
    """Each process of the tree has a record, forked ones too, and each announces its own file for stacks."""
    code = "import os, subprocess, sys\nif os.fork() == 0: os._exit(0)\nos.wait()\nsubprocess.run([sys.executable, '-c', 'pass'])"
    _, records = recorded(tmp_path / "run", [sys.executable, "-c", code], cwd=tmp_path)
    assert sorted(record.start["forked"] for record in records.by_pid.values()) == [False, False, True]
    assert all(record.stacks_signal and record.stacks_path.exists() for record in records.by_pid.values())


def test_closed_and_reused_descriptor_is_never_written_to(tmp_path: Path) -> None:
    """A job that closes all descriptors and opens its own files keeps them clean of kb's lines."""
    code = (
        "import os, resource\nos.closerange(3, 1024)\n"
        "for n in range(3, 720): os.open('mine', os.O_WRONLY | os.O_CREAT)\nimport xml.dom\nos.closerange(3, 1024)"
    )
    recorded(tmp_path / "run", [sys.executable, "-c", code], cwd=tmp_path)
    assert (tmp_path / "mine").read_bytes() == b""


def test_secrets_of_the_command_line_and_environment_stay_out(tmp_path: Path) -> None:
    """Values of options and variables that name a secret are not even written by the job."""
    _, records = recorded(
        tmp_path / "run",
        [sys.executable, "-c", "pass", "--api-key", "s3cr3t-one", "--hub-token=s3cr3t-two"],
        cwd=tmp_path,
        HF_TOKEN="s3cr3t-three",
    )
    assert b"s3cr3t" not in only(records).path.read_bytes()


@pytest.mark.parametrize("python", UNKNOWN_PYTHONS)
def test_unknown_python_is_left_alone(python: str, tmp_path: Path) -> None:
    """A Python that the record does not know runs as if nothing were there."""
    done, records = recorded(tmp_path / "run", [python, "-c", "print('fine')"], cwd=tmp_path)
    assert (done.stdout, done.stderr, records.by_pid) == (b"fine\n", b"", {})


def test_cost_is_milliseconds(tmp_path: Path) -> None:
    """The record adds a few milliseconds of CPU to the start of a process: far below the 20 allowed here."""
    (tmp_path / "run").mkdir()
    environment = prepare(os.environ, tmp_path / "run")
    plain, recorded = [], []
    for _ in range(60):  # a crowded machine makes processor time dearer too; the least of several is the program's own
        plain.append(_cpu_of_start(dict(os.environ)))
        recorded.append(_cpu_of_start(environment))
        if len(plain) >= 5 and min(recorded) - min(plain) < 0.02:
            return
    raise AssertionError(f"{min(recorded) - min(plain):.3f} s")


def _cpu_of_start(environment: dict[str, str]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-c", "pass"], env=environment, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

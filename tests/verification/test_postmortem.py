"""Checks over a program's values: after it failed, in the frame that failed, and from inside of it; the program stays what it was."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import Kb, build_base

SYMPTOM = "IndexError: Target 12 is out of bounds."
PROGRAM = """\
import sys
def loss_of(labels, num_classes):
    table = [0] * num_classes
    if max(labels) >= num_classes:
        raise IndexError(f"Target {max(labels)} is out of bounds.")
def main(argument):
    batch = {"y": [1, 2, 12]}
    secret = "x" * 10_000
    print("training", argument, __name__, flush=True)
    loss_of(batch["y"], 10)
main(sys.argv[1])
"""


@pytest.fixture
def make_base(tmp_path: Path, make_entry: Callable[..., str]) -> Callable[[str], Path]:
    """A base with one entry whose check is this expression."""

    def make(expression: str) -> Path:
        text = make_entry(symptom=SYMPTOM, verify=expression, confirms="true", fix="Map the labels to 0…n-1.").replace("```sh", "```python")
        return build_base(tmp_path / "entries", {"training/label-out-of-range": text})

    return make


def run(program: Path, *arguments: str, base: Path | None = None, post_mortem: bool = True, options: tuple[str, ...] = ()) -> subprocess.CompletedProcess[str]:
    """Run a program, post mortem or plainly."""
    before = ("-m", "kbtool.postmortem", *options) if post_mortem else ()
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    if base:
        environment["KB_ENTRIES"] = str(base)
    return subprocess.run([sys.executable, *before, str(program), *arguments], env=environment, capture_output=True, text=True, timeout=120, check=False)


@pytest.fixture
def train(tmp_path: Path) -> Path:
    """A program that fails with labels out of range."""
    path = tmp_path / "train.py"
    path.write_text(PROGRAM)
    return path


def test_the_check_is_evaluated_where_the_program_failed(train: Path, make_base: Callable[[str], Path], kb: Kb) -> None:
    """The innermost frame with all names is found, its values described in a few words, the verdict recorded in the entry."""
    base = make_base("max(labels) >= num_classes")
    kb("allow", "label-out-of-range", entries=base)

    done = run(train, "now", base=base)

    assert "confirmed" in done.stderr
    assert f"in {train}:5 in loss_of: labels is list of 3: 1, 2, 12, num_classes is int 10" in done.stderr
    assert "Map the labels" in done.stderr
    assert "xxxx" not in done.stderr
    row = (base / "training" / "label-out-of-range.md").read_text().splitlines()[-1]
    assert "| confirmed |" in row and "num_classes int 10" in row


def test_a_confirmed_candidate_is_the_last_one_looked_at(train: Path, make_base: Callable[[str], Path], kb: Kb) -> None:
    """Once a check has found the fault, no other candidate is mentioned."""
    base = make_base("max(labels) >= num_classes")
    first = base / "training" / "label-out-of-range.md"
    first.with_name("another-cause.md").write_text(first.read_text().replace("num_classes", "num_classes + 1"))
    kb("allow", "label-out-of-range", "another-cause", entries=base)

    told = run(train, "now", base=base).stderr

    assert told.count("confirmed: value: True") == 1
    assert ("another-cause (" in told) != ("label-out-of-range (" in told)


def test_names_can_be_mapped(train: Path, make_base: Callable[[str], Path], kb: Kb) -> None:
    """`--with` says what a name means in a frame that calls it otherwise."""
    base = make_base("max(targets) >= classes")
    kb("allow", "label-out-of-range", entries=base)

    assert "no frame of the traceback has all of classes, targets" in run(train, "now", base=base).stderr
    mapped = run(train, "now", base=base, options=("--with", "targets=labels", "--with", "classes=len(table)"))
    assert "confirmed" in mapped.stderr and "in loss_of" in mapped.stderr


def test_an_outer_frame_serves_where_the_inner_one_lacks_a_name(train: Path, make_base: Callable[[str], Path], kb: Kb) -> None:
    """`batch` lives one frame further out: that frame is named."""
    base = make_base('max(batch["y"]) > 10')
    kb("allow", "label-out-of-range", entries=base)

    assert f"in {train}:10 in main: batch is dict of 1" in run(train, "now", base=base).stderr


def test_nothing_is_evaluated_without_permission(train: Path, make_base: Callable[[str], Path]) -> None:
    """An expression that nobody allowed is named with the command that allows it, and not evaluated."""
    done = run(train, "now", base=make_base("max(labels) >= num_classes"))

    assert "kb allow label-out-of-range" in done.stderr
    assert "confirmed" not in done.stderr and "num_classes is" not in done.stderr


ENDINGS = {
    "an exception": "raise ValueError('x')",
    "a chained exception": "try:\n    1 / 0\nexcept ZeroDivisionError as error:\n    raise RuntimeError('y') from error",
    "an exit status": "import sys; sys.exit(7)",
    "an exit message": "import sys; sys.exit('over')",
    "an interrupt": "raise KeyboardInterrupt",
    "success": "print('fine')",
    "a syntax error": "print(",
    "an exception of its own hook": "import sys\nsys.excepthook = lambda *_: print('own hook')\nraise ValueError",
    "output at exit": "import atexit; atexit.register(print, 'bye'); raise ValueError",
    "its own module": "import __main__, sys; print(__main__.__file__ == __file__, sys.argv[1:], sys.path[0] != '', __name__)",
    "a pickle of its own class": "import pickle\nclass A: pass\nprint(type(pickle.loads(pickle.dumps(A()))).__name__)",
    "a signal": "import os, signal; os.kill(os.getpid(), signal.SIGKILL)",
}


@pytest.mark.parametrize("name", ENDINGS)
def test_the_program_stays_what_it_was(name: str, tmp_path: Path, base: Path) -> None:
    """Output, traceback, exit status and signals are those of the plain program; only lines of kb come after them."""
    program = tmp_path / "program.py"
    program.write_text(ENDINGS[name] + "\n")

    plain, watched = run(program, "a", "b", post_mortem=False), run(program, "a", "b", base=base)

    assert watched.returncode == plain.returncode
    assert watched.stdout == plain.stdout
    assert "".join(line for line in watched.stderr.splitlines(keepends=True) if not line.startswith("kb: ")) == plain.stderr
    if name == "an interrupt":
        assert watched.returncode == -signal.SIGINT and "kb: " not in watched.stderr


def test_a_module_can_be_run(tmp_path: Path, base: Path) -> None:
    """`-m package.module` runs as Python runs it."""
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "__init__.py").write_text("")
    (tmp_path / "package" / "job.py").write_text("import sys\nprint(__name__, sys.argv[1:])\nraise ValueError('x')\n")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), *(path for path in sys.path if path)]), "KB_ENTRIES": str(base)}

    done = subprocess.run([sys.executable, "-m", "kbtool.postmortem", "-m", "package.job", "a"], env=environment, capture_output=True, text=True, check=False)

    assert (done.returncode, done.stdout) == (1, "__main__ ['a']\n")
    assert "runpy" not in done.stderr and "postmortem" not in done.stderr.replace("kbtool.postmortem", "")


def test_usage(tmp_path: Path) -> None:
    """Without a program it says how it is used."""
    done = subprocess.run([sys.executable, "-m", "kbtool.postmortem"], capture_output=True, text=True, cwd=Path(__file__).parents[2], check=False)

    assert (done.returncode, done.stderr.startswith("usage:")) == (2, True)


CHECK_CALL = """\
import kbtool
result = kbtool.check("label-out-of-range", labels=[1, 12], num_classes=10)
print(result.verdict.value, "|", result.reason)
"""


def test_a_program_can_ask_itself(tmp_path: Path, make_base: Callable[[str], Path], kb: Kb) -> None:
    """`kbtool.check` evaluates an entry's expression over the caller's values and records the outcome; permission is needed here too."""
    base = make_base("max(labels) >= num_classes")
    program = tmp_path / "ask.py"
    program.write_text(CHECK_CALL)

    refused = run(program, base=base, post_mortem=False)
    assert refused.returncode == 1 and "NotAllowedError" in refused.stderr
    kb("allow", "label-out-of-range", entries=base)
    done = run(program, base=base, post_mortem=False)

    assert done.stdout == "confirmed | value: True\n", done
    assert "labels list of 2: 1, 12" in (base / "training" / "label-out-of-range.md").read_text()


def test_a_program_can_stop_itself(tmp_path: Path, make_base: Callable[[str], Path], kb: Kb) -> None:
    """With `raises=True` a confirmed fault is an exception that names entry, values and fix."""
    base = make_base("max(labels) >= num_classes")
    kb("allow", "label-out-of-range", entries=base)
    program = tmp_path / "ask.py"
    program.write_text(CHECK_CALL.replace("num_classes=10", "num_classes=10, raises=True"))

    done = run(program, base=base, post_mortem=False)

    assert "CheckFailedError: label-out-of-range" in done.stderr and "Map the labels" in done.stderr


def test_values_that_are_not_at_hand_are_inconclusive(make_base: Callable[[str], Path], kb: Kb) -> None:
    """`kb verify` of an expression says how to give its values, and takes literals."""
    base = make_base("max(labels) >= num_classes")
    kb("allow", "label-out-of-range", entries=base)

    without = kb("verify", "label-out-of-range", entries=base)
    given = kb("verify", "label-out-of-range", "--with", "labels=[1, 12]", "--with", "num_classes=10", entries=base)
    wrong = kb("verify", "label-out-of-range", "--with", "labels=open('x')", entries=base)

    assert without.returncode == 3 and "kbtool.check('label-out-of-range', labels=…, num_classes=…)" in without.stdout
    assert given.returncode == 0
    assert wrong.returncode == 2


def test_importing_kbtool_costs_nothing() -> None:
    """`import kbtool` in a training program loads nothing else of kb, until `check` is asked for."""
    program = "import sys, kbtool; print([name for name in sys.modules if name.startswith('kbtool.')]); kbtool.check; print('kbtool.verification' in sys.modules)"

    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=Path(__file__).parents[2])

    assert done.stdout == "[]\nTrue\n"

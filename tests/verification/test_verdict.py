"""The `confirms` conditions and the verdicts: what confirms, what refutes, and what could not answer."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from kbtool.model import Check, Entry, Verdict
from kbtool.verification.process import Finished
from kbtool.verification.run import verify
from kbtool.verification.verdict import judge, judge_value, search
from kbtool.verification.versions import last_version, version_key
from tests.verification.conftest import HERE

YES, NO, UNKNOWN = Verdict.CONFIRMED, Verdict.REFUTED, Verdict.INCONCLUSIVE


def finished(stdout: str = "", stderr: str = "", code: int = 0) -> Finished:
    """A command that exited by itself."""
    return Finished("exit", code, None, 0.01, stdout, stderr)


CONDITIONS = [
    ("exit zero", finished(code=0), YES),
    ("exit zero", finished(code=1), NO),
    ("exit nonzero", finished(code=1), YES),
    ("exit nonzero", finished(code=0), NO),
    ("exit 3", finished(code=3), YES),
    ("exit 3", finished(code=0), NO),
    ("exit 127", finished(stderr="sh: 1: x: not found", code=127), YES),
    ("exit 3", finished(stderr="sh: 1: x: not found", code=127), UNKNOWN),
    ("stdout contains 64M", finished("shm 64M\n"), YES),
    ("stdout contains 64M", finished("shm 8G\n"), NO),
    ("stdout contains 64M", finished(""), NO),
    ("stdout matches ^6[0-9]M", finished("size\n64M\n"), YES),
    ("stdout matches ^6[0-9]M", finished("x64M\n"), NO),
    ("stderr contains denied", finished(stderr="access denied", code=1), YES),
    ("stderr contains denied", finished(stderr="fine"), NO),
    ("stderr matches No module named .torch.", finished(stderr="ModuleNotFoundError: No module named 'torch'", code=1), YES),
    ("stdout < 1048576", finished("Avail\n65536\n"), YES),
    ("stdout < 1048576", finished("8388608\n"), NO),
    ("stdout <= 2", finished("2"), YES),
    ("stdout > 1.5", finished("loss 1.25e1 at step"), YES),
    ("stdout >= 3", finished("-4"), NO),
    ("stdout == 8", finished("cores: 8\n"), YES),
    ("stdout != 8", finished("cores: 8\n"), NO),
    ("stdout > 5", finished("inf"), YES),
    ("stdout < 5", finished("-inf"), YES),
    ("stdout < 2000000", finished("1,048,576 bytes"), YES),
    ("stdout < 5", finished("nothing here"), UNKNOWN),
    ("stdout < 5", finished("2.13.0"), UNKNOWN),
    ("stdout < 5", finished("nan"), UNKNOWN),
    ("stdout < 5", finished(""), UNKNOWN),
    ("version < 2.6", finished("torch 2.5.1+cu121\n"), YES),
    ("version < 2.6", finished("2.10.0\n"), NO),
    ("version < 2.6", finished("2.6.0a0+git123\n"), YES),
    ("version >= 2.6", finished("2.6\n"), YES),
    ("version == 2.6", finished("v2.6.0\n"), YES),
    ("version != 12", finished("gcc 12\n"), NO),
    ("version < 2.6", finished("no version"), UNKNOWN),
    ("true", finished("True"), UNKNOWN),
]


@pytest.mark.parametrize(("confirms", "result", "expected"), CONDITIONS, ids=[f"{case[0]}|{case[1].stdout or case[1].exit_code}" for case in CONDITIONS])
def test_conditions(confirms: str, result: Finished, expected: Verdict) -> None:
    """Every form of `confirms` reads a result as the documentation says."""
    assert judge(Check("prog", confirms=confirms), result).verdict is expected


TROUBLE = {
    "a command that does not exist": ("no-such-command-here", "exit nonzero", "command not found"),
    "the same in the first part of a pipe": ("no-such-command-here | wc -l", "stdout == 0", "command not found"),
    "the same with its message thrown away": ("no-such-command-here 2>/dev/null | wc -l", "stdout == 0", "command not found"),
    "the same inside a substitution": ('echo "$(no-such-command-here 2>/dev/null | wc -l)"', "stdout == 0", "command not found"),
    "the same behind another command": ("env no-such-command-here", "exit nonzero", "command not found"),
    "the time is up": ("sleep 30", "exit nonzero", "no answer within"),
    "the time is up after the answer was printed": ("echo 5; sleep 30", "stdout == 5", "no answer within"),
    "killed by the kernel's memory killer": ("kill -KILL $$", "exit nonzero", "killed by SIGKILL"),
    "a child killed by it": ("sh -c 'kill -KILL $$'; exit $?", "exit nonzero", "killed by SIGKILL"),
    "a crash": ("kill -SEGV $$", "exit nonzero", "killed by SIGSEGV"),
    "a Python module is missing": ("python -c 'import no_such_module_here'", "exit nonzero", "module missing"),
    "the same in the first part of a pipe ": ("python -c 'import no_such_module_here; print(1)' | wc -l", "stdout == 0", "module missing"),
    "Python that does not parse": ("python -c 'print('", "exit nonzero", "syntax error"),
    "a name of the failed program in a shell check": ("python -c 'print(labels.min())'", "exit nonzero", "does not exist"),
    "an exception before anything was printed": ("python -c 'print(1 // 0)'", "stdout contains 1", "ZeroDivisionError"),
    "a shell line that does not parse": ("echo 'open", "exit nonzero", "syntax error"),
    "a file without the right to execute": ("/etc/passwd", "exit nonzero", "can not be executed"),
    "grep that could not read": ("grep -q x /no/such/file", "exit nonzero", "could not read"),
    "a test on an empty value": ('[ "" -gt 5 ]', "exit nonzero", "can not compare"),
    "output without end": ("yes", "exit nonzero", "printed without end"),
    "nothing printed where a number was due": ("true", "stdout < 5", "no number"),
    "a need that is not met": ("true", "exit zero", "needs not met"),
    "a variable that the shell asks for": ('test -d "${NO_SUCH_FOLDER:?}"', "exit nonzero", "`NO_SUCH_FOLDER` is not set"),
    "a variable that Python asks for": ("python -c 'import os; os.environ[\"NO_SUCH_PORT\"]'", "stderr contains in use", "`NO_SUCH_PORT` is not set"),
    "a variable, where its absence has an exit status": ('test -d "${NO_SUCH_FOLDER:?}"', "exit 2", "`NO_SUCH_FOLDER` is not set"),
}


@pytest.mark.usefixtures("python_on_path")
@pytest.mark.parametrize("name", TROUBLE)
def test_a_check_that_broke_is_inconclusive(name: str, allowed_entry: Callable[..., Entry]) -> None:
    """Whatever kept a check from answering is inconclusive with its reason: never confirmed, never refuted."""
    command, confirms, reason = TROUBLE[name]
    needs = ("windows",) if "need" in name else ()

    result = verify(allowed_entry(command, confirms, needs=needs, timeout=1.0 if "time is up" in name else 20.0), here=HERE)

    assert (result.verdict, reason in result.reason) == (UNKNOWN, True), result


@pytest.mark.usefixtures("python_on_path")
@pytest.mark.parametrize(
    ("command", "confirms"),
    [
        ("no-such-command-here", "exit 127"),
        ("no-such-command-here", "stderr contains not found"),
        ("python -c 'import no_such_module_here'", "stderr matches No module named .no_such"),
        ("kill -ABRT $$", "exit 134"),
    ],
)
def test_an_explicit_condition_may_look_for_the_failure_itself(command: str, confirms: str, allowed_entry: Callable[..., Entry]) -> None:
    """`stderr …` and `exit N` may take a check's own failure as their answer."""
    assert verify(allowed_entry(command, confirms), here=HERE).verdict is YES


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("command -v no-such-command-here >/dev/null && echo 1 || echo 0", NO),
        ("no-such-command-here 2>/dev/null || echo 0", NO),
        ("f() { echo 1; }; f", YES),
        ("for i in 1; do echo $i; done", YES),
        ("python -c 'assert False'; echo $?", UNKNOWN),
    ],
)
@pytest.mark.usefixtures("python_on_path")
def test_what_an_author_provided_for_is_no_breakage(command: str, expected: Verdict, allowed_entry: Callable[..., Entry]) -> None:
    """A line that handles a missing command itself, and shell grammar around commands, are read as they are meant."""
    assert verify(allowed_entry(command, "stdout == 1"), here=HERE).verdict is expected


@pytest.mark.usefixtures("python_on_path")
def test_a_failed_assertion_is_an_answer_by_exit_status(allowed_entry: Callable[..., Entry]) -> None:
    """`python -c 'assert …'` says no with its exit status, and a refused connection is an answer too."""
    assert verify(allowed_entry("python -c 'assert 1 > 2'", "exit nonzero"), here=HERE).verdict is YES
    assert verify(allowed_entry("python -c 'raise ConnectionRefusedError'", "exit zero"), here=HERE).verdict is NO


def test_messages_are_read_in_any_locale(allowed_entry: Callable[..., Entry], monkeypatch: pytest.MonkeyPatch) -> None:
    """A German locale changes neither the shell's messages nor the decimal point, and stays the locale of characters."""
    monkeypatch.setenv("LC_ALL", "de_DE.UTF-8")
    monkeypatch.setenv("LANGUAGE", "de")

    result = verify(allowed_entry('printf "%s %s %s\\n" "$LC_ALL" "$LC_CTYPE" "$LC_NUMERIC"; no-such-command-here', "exit nonzero"), here=HERE)

    assert result.stdout == " de_DE.UTF-8 C\n"
    assert "command not found" in result.reason


def test_without_confirms_only_a_person_can_tell(allowed_entry: Callable[..., Entry]) -> None:
    """Without `confirms` and without a person it is inconclusive, and the result says that a person could tell."""
    result = verify(allowed_entry("echo 42", None), here=HERE)

    assert (result.verdict, result.needs_person) == (UNKNOWN, True)
    assert result.judged(YES).verdict is YES


def test_an_entrys_pattern_can_not_hang_kb() -> None:
    """A pattern that would take for ever is given up within its second, and a usual one is found."""
    started = time.monotonic()

    assert search("(a+)+$", "a" * 60 + "b") is None
    assert time.monotonic() - started < 60, "one second of processor time, which a crowded machine gives slowly"
    assert search("^b$", "a\nb\n") is True
    assert search("^c$", "a\nb\n") is False


@pytest.mark.parametrize(
    ("value", "confirms", "expected"),
    [(True, "true", YES), (False, "true", NO), (False, "false", YES), (True, None, YES), (None, "true", UNKNOWN), ([1], "true", UNKNOWN), (7, "stdout > 5", YES)],
)
def test_values_of_an_expression(value: object, confirms: str | None, expected: Verdict) -> None:
    """`true` and `false` read a truth value; anything that has none is inconclusive; numbers may be compared."""
    assert judge_value(Check("x", "python", confirms), value).verdict is expected


def test_versions_compare_by_release() -> None:
    """Releases compare as numbers, pre-releases stand below, labels of a build do not count."""
    ordered = ["1.13.1", "2.6.0a0+git", "2.6", "2.6.1+cu124", "2.10", "13"]

    assert sorted(ordered, key=version_key) == ordered
    assert last_version("torch 2.13.0+cpu (built for 12.4)") == "12.4"

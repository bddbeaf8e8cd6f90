"""What people write where a check should stand."""

from __future__ import annotations

import pytest

from kbtool.knowledge.checktext import changes_something, read_check, shell_problem, unknown_command

EXPRESSIONS = [
    ("`assert (labels >= 0).all() and (labels < num_classes).all()`", "(labels >= 0).all() and (labels < num_classes).all()", "false"),
    ("assert x.ndim == 2, 'two dimensions'", "x.ndim == 2", "false"),
    ('`print(f"Batch size: {x.shape[0]}")`', "x.shape[0]", None),
    ("print(a, b.shape)", "(a, b.shape)", None),
    ("torch.isnan(loss).any()", "torch.isnan(loss).any()", None),
    ("len(batch) > 3", "len(batch) > 3", None),
    (">>> x.dtype", "x.dtype", None),
    ("```python\n(labels < 10).all()\n```", "(labels < 10).all()", None),
]

COMMANDS = [
    ("`df -h /dev/shm`", "df -h /dev/shm"),
    ("$ df -k /tmp | tail -1", "df -k /tmp | tail -1"),
    ("```sh<br>cat /proc/meminfo<br>```", "cat /proc/meminfo"),
    ("test -w /tmp && echo yes", "test -w /tmp && echo yes"),
    ("nvidia-smi", "nvidia-smi"),
    ("ls /nowhere 2>/dev/null", "ls /nowhere 2>/dev/null"),
    ("python -c 'import torch; print(torch.__version__)'", "python -c 'import torch; print(torch.__version__)'"),
    ("import torch; torch.cuda.is_available()", "python -c 'import torch; print(torch.cuda.is_available())'"),
]

FIXES = ["ulimit -n 65536", "pip install torch", "kill -9 4242", "sudo sysctl -w vm.x=1", "df -k /tmp; rm -rf /tmp/x", "nvidia-smi -pm 1", "echo 1 > /tmp/x", "export A=1"]

NO_CHECKS = [
    ("", "no check"),
    ("Check that the batch size is > 1", "description"),
    ("检查批大小", "description"),
    ("Increase the shared memory of the container.", "description"),
    ("df -h\nfree -m", "2 lines"),
    ("echo 'never closed", "shell can not read"),
    ("print('hello')", "looks at nothing"),
    ("```python\nx = (\n```", "no Python expression"),
    ("x" * 5000, "5000 characters"),
]


@pytest.mark.parametrize(("written", "expression", "confirms"), EXPRESSIONS)
def test_python_becomes_an_expression(written: str, expression: str, confirms: str | None) -> None:
    """`assert X` asks whether X is false, `print(X)` shows X to a person, a bare expression stays one."""
    read = read_check(written)

    assert (expression, "python", confirms, None) == (read.command, read.language, read.confirms, read.problem)


@pytest.mark.parametrize(("written", "command"), COMMANDS)
def test_commands_lose_only_their_wrapping(written: str, command: str) -> None:
    """Code spans, fences and prompts come off; the command stays as it was."""
    read = read_check(written)

    assert (command, "sh", None) == (read.command, read.language, read.problem)


@pytest.mark.parametrize("written", FIXES)
def test_what_changes_something_is_a_fix(written: str) -> None:
    """A command that changes the system in any of its parts is no check."""
    read = read_check(f"`{written}`")

    assert read.is_fix
    assert changes_something(written)


@pytest.mark.parametrize(("written", "reason"), NO_CHECKS)
def test_what_can_not_be_checked_says_why(written: str, reason: str) -> None:
    """A sentence, several lines, broken syntax: each is named as what it is."""
    assert reason in (read_check(written).problem or "")


def test_commands_that_not_every_system_has_are_needed() -> None:
    """A check names the command it needs, so that its absence is not taken for an answer."""
    assert read_check("nvidia-smi -q | grep Xid").needs == ("command:nvidia-smi",)
    assert read_check("df -h | tail -1").needs == ()


def test_the_first_word_must_be_known() -> None:
    """A first word that is neither usual nor on PATH nor declared is named."""
    assert unknown_command("no-such-tool-here --x", ()) == "no-such-tool-here"
    assert unknown_command("no-such-tool-here --x", ("command:no-such-tool-here",)) is None
    assert unknown_command("df -h", ()) is None


def test_reading_runs_nothing(tmp_path: object) -> None:
    """The shell only reads a check here, it does not run it."""
    assert shell_problem(f"touch {tmp_path}/ran; $(touch {tmp_path}/ran)") is None
    assert not list(tmp_path.iterdir())  # type: ignore[attr-defined]

"""The program as a whole: its table of commands, its errors, its streams."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from kbtool.cli.app import COMMANDS
from tests.conftest import Kb

LISTED = [name for name, line in COMMANDS.items() if line]


@pytest.mark.parametrize("name", LISTED)
def test_every_command_has_help_with_an_example(name: str, kb: Kb) -> None:
    """`--help` of each command shows its purpose and one example line."""
    done = kb(name, "--help")

    assert done.returncode == 0
    assert "Example: " in done.stdout or "Examples:" in done.stdout
    assert f"kb {name}" in done.stdout.replace("python train.py 2>&1 | ", "")


def test_the_group_help_lists_every_command(kb: Kb) -> None:
    """`kb --help` names each command of the table."""
    done = kb("--help")

    assert all(f"  {name} " in done.stdout for name in LISTED)


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_for_each_shell(shell: str, kb: Kb) -> None:
    """Completion scripts exist for bash, zsh and fish."""
    done = kb("--show-completion", shell)

    assert done.returncode == 0
    assert "KB_COMPLETE" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["mach"], "did you mean `kb match`?"),
        (["match", "--jsno"], "No such option: --jsno"),
        (["show"], "Missing argument"),
        (["show", "disk-ful"], "did you mean `disk-full`?"),
        (["match", "/nonexistent/log"], "/nonexistent/log: can not be read: No such file or directory"),
        (["lint", "/nonexistent"], "no such file or folder"),
        (["init", "/dev/null"], "/dev/null: is a file"),
    ],
)
def test_errors_are_sentences(arguments: list[str], said: str, kb: Kb, base: Path) -> None:
    """A wrong command line or a missing file is one sentence on stderr, with a hint, and stdout stays empty."""
    done = kb(*arguments, entries=base)

    assert done.returncode in (1, 2)
    assert said in done.stdout + done.stderr
    assert "hint: " in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""


def test_a_base_that_is_no_folder(kb: Kb, tmp_path: Path) -> None:
    """`--entries` with a folder that does not exist says how to make it."""
    done = kb("list", entries=tmp_path / "nowhere")

    assert done.returncode == 2
    assert f"hint: `kb init {tmp_path / 'nowhere'}` makes one" in done.stderr


def test_a_broken_entry_hides_no_other(kb: Kb, base: Path) -> None:
    """One broken file is named on stderr with its line; the others are listed, found, and match's exit code is as without it."""
    (base / "data" / "broken-one.md").write_text("---\nstatus: [\n---\n# x\n")
    listed, matched = kb("list", entries=base), kb("match", entries=base, input="OSError: [Errno 28] No space left on device\n")

    assert (listed.returncode, matched.returncode) == (0, 0)
    assert "disk-full" in listed.stdout and "disk-full" in matched.stdout
    for done in (listed, matched):
        assert f"{base / 'data' / 'broken-one.md'}:" in done.stderr
    assert kb("lint", entries=base).returncode == 1


def test_a_reader_that_goes_away(kb: Kb, base: Path) -> None:
    """`kb list | head -1` ends quietly whoever leaves first."""
    command = f"{sys.executable} -m kbtool --entries {base} list --json | head -1; echo ${{PIPESTATUS[0]}} >&2"
    for _ in range(5):
        done = subprocess.run(["bash", "-c", command], capture_output=True, text=True)

        assert done.stderr == "0\n"


def test_a_closed_stdout(base: Path) -> None:
    """Writing into a pipe whose reader is gone already is no error."""
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run([sys.executable, "-m", "kbtool", "--entries", str(base), "list", "--json"], stdout=writer, stderr=subprocess.PIPE, text=True)
    os.close(writer)

    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
@pytest.mark.parametrize("command", [["list", "--json"], ["show", "disk-full"], ["--help"]])
def test_a_full_stdout_is_a_sentence(command: list[str], base: Path) -> None:
    """An output that can not be written is an error in words, not a bug of kb."""
    with open("/dev/full", "w") as full:
        done = subprocess.run([sys.executable, "-m", "kbtool", "--entries", str(base), *command], stdout=full, stderr=subprocess.PIPE, text=True)

    assert (done.returncode, done.stderr) == (2, "kb: the output can not be written: No space left on device\n")


def test_bare_kb_shows_its_help(kb: Kb) -> None:
    """`kb` alone is a question, and its help the answer."""
    done = kb()

    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == kb("--help").stdout


ASKS = {
    "bash": lambda words: {"_KB_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": str(words.count(" "))},
    "zsh": lambda words: {"_KB_COMPLETE": "complete_zsh", "_TYPER_COMPLETE_ARGS": words},
    "fish": lambda words: {"_KB_COMPLETE": "complete_fish", "_TYPER_COMPLETE_FISH_ACTION": "get-args", "_TYPER_COMPLETE_ARGS": words},
}
"""How each shell's completion script asks the program."""


@pytest.mark.parametrize("shell", ASKS)
@pytest.mark.parametrize(("words", "offered", "hidden"), [("kb show di", "disk-full", "other"), ("kb mer", "merge", "merge-driver")])
def test_words_are_completed(shell: str, words: str, offered: str, hidden: str, base: Path) -> None:
    """Each shell completes commands, and ids of the bases in use; commands for git alone are not offered."""
    environment = {**os.environ, "KB_ENTRIES": str(base), **ASKS[shell](words)}
    program = "import sys; sys.argv = ['kb']; from kbtool.__main__ import main; main()"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=environment)

    assert offered in done.stdout
    assert hidden not in done.stdout


def test_interrupt_is_130(base: Path) -> None:
    """Ctrl-C while match waits for its input ends with 130 and no stack trace."""
    job = subprocess.Popen(
        [sys.executable, "-m", "kbtool", "--entries", str(base), "match", "--tee"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert job.stdin is not None and job.stdout is not None
    job.stdin.write(b"first line\n")
    job.stdin.flush()
    assert job.stdout.readline() == b"first line\n"
    job.send_signal(signal.SIGINT)
    _, err = job.communicate(timeout=60)

    assert job.returncode == 130
    assert b"Traceback" not in err


def test_a_bug_is_one_line_and_a_report(base: Path, own_world: Path) -> None:
    """An unexpected exception becomes one line on stderr, a report without secrets, and exit 70."""
    token = "hf_" + "a1B2c3D4e5" * 4
    program = (
        "import sys, kbtool.knowledge.layers as layers\n"
        f"def broken(*a): raise RuntimeError('boom {token}')\n"
        "layers.find_layers = broken\n"
        f"sys.argv = ['kb', 'list']\n"
        "from kbtool.__main__ import main; main()\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    reports = list((own_world / "state" / "kb" / "bugs").glob("*.txt"))

    assert done.returncode == 70
    assert done.stderr.startswith("kb: a bug in kb: RuntimeError: boom") and done.stderr.count("\n") == 1
    assert "Traceback" not in done.stderr
    assert len(reports) == 1
    text = reports[0].read_text()
    assert "Python 3." in text and "Traceback" in text and token not in text


@pytest.mark.parametrize("command", [["list"], ["search", "disk"], ["show", "disk-full"], ["doctor"], ["lint"]])
def test_json_is_one_document(command: list[str], kb: Kb, base: Path) -> None:
    """Every command that returns data has --json: one ASCII document on stdout."""
    done = kb(*command, "--json", entries=base)

    json.loads(done.stdout)
    assert done.stdout.isascii()


@pytest.mark.parametrize(
    ("before", "arguments", "said"),
    [
        ("", ["match"], "kb: the input is empty"),
        ("a healthy line\n", ["show", "2"], "the last match found nothing, and so there is no number 2"),
        ("a healthy line\n", ["verify"], "the last match found nothing, so there is nothing to verify"),
        ("", ["edit", "disk-full"], "hint: `export EDITOR=nano` (or another one)\n"),
    ],
)
def test_what_is_missing_is_said(before: str, arguments: list[str], said: str, kb: Kb, base: Path) -> None:
    """Without a match, an input or an editor the message says just that, and what helps for this command."""
    if before:
        kb("match", input=before, entries=base)

    done = kb(*arguments, entries=base, env={"EDITOR": "", "VISUAL": ""})

    assert done.returncode in (1, 2)
    assert said in done.stderr


def test_show_says_how_an_expression_is_evaluated(kb: Kb) -> None:
    """The next step of an entry whose check needs the failed program's values is the run that has them."""
    assert "next: kb run --post-mortem -- python" in kb("show", "label-out-of-range").stdout
    assert "next: kb verify rendezvous-variables-missing" in kb("show", "rendezvous-variables-missing").stdout

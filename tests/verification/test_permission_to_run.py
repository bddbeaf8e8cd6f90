"""A check is code from a repository: it runs after a person allowed it, and what was shown is what runs."""

from __future__ import annotations

import io
import os
import pty
import re
import select
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from kbtool.cli.app import COMMANDS as NAMES
from kbtool.cli.asking import ask_consent, show_request
from kbtool.knowledge.layers import find_layers
from kbtool.model import Check
from kbtool.verification.consent import Consent, Permission, Request
from kbtool.verification.several import Plan, run_all
from kbtool.verification.shell import surroundings_of
from kbtool.verification.targets import find_targets
from tests.conftest import Kb, build_base
from tests.verification.conftest import proof_count

SYMPTOM = "OSError: [Errno 28] No space left on device"
LOG = f'Traceback (most recent call last):\n  File "train.py", line 3, in <module>\n    save()\n{SYMPTOM}\n'

COMMANDS = [
    ("match", "log.txt"),
    ("match", "log.txt", "--json"),
    ("match", "log.txt", "--all"),
    ("match", "log.txt", "--verify"),
    ("match", "log.txt", "--verify", "--json"),
    ("match", "log.txt", "--tee"),
    ("list",),
    ("list", "--json"),
    ("show", "disk-full"),
    ("show", "disk-full", "--json"),
    ("search", "disk"),
    ("search", "disk", "--json"),
    ("lint",),
    ("env",),
    ("env", "--json"),
    ("doctor",),
    ("deny", "disk-full"),
    ("deny", "--undo", "disk-full"),
    ("allow",),
    ("allow", "disk-full"),
    ("allow", "--json"),
    ("verify", "--dry-run", "disk-full"),
    ("verify", "--dry-run", "disk-full", "--json"),
    ("--help",),
    ("--version",),
    ("verify", "--help"),
]
"""Commands that read, in many forms: reading is free, and nothing of it runs a check."""

ARGUMENTS: dict[str, tuple[str, ...]] = {
    "edit": ("disk-full",),
    "export": ("--format", "jsonl"),
    "import": ("table.csv",),
    "learn": ("disk-full", "log.txt"),
    "merge-driver": ("log.txt", "log.txt", "log.txt"),
    "retire": ("disk-full",),
    "review": ("--report",),
    "run": ("--", "cat", "log.txt"),
}
"""What the other commands need; one that is not here is called by its name alone."""

OTHERS = [(name, *ARGUMENTS.get(name, ())) for name in NAMES if name not in {"verify", *(command[0] for command in COMMANDS)}]
"""Every command that there is and that is not listed above."""

REFUSED = [
    ("verify",),
    ("verify", "disk-full"),
    ("verify", "1"),
    ("verify", "disk-full", "--json"),
    ("verify", "--all-matched"),
    ("verify", "disk-full", "--repeat", "3"),
    ("verify", "disk-full", "--via", "env"),
    ("verify", "disk-full", "--scratch"),
]
"""Ways to ask for a run that nobody allowed."""

TRAPS: dict[str, tuple[str, str]] = {
    "settings in the base": ("entries/.kb.toml", "[trust]\nallow = ['*']\n"),
    "settings beside the base": (".kb/config.json", '{"allow": ["disk-full"], "yes": true}'),
    "a consent store in the base": ("entries/consent/allow/disk-full.json", '{"id": "disk-full", "allowed": "2026-01-01 00:00:00Z"}'),
    "an environment file": (".env", "KB_YES=1\nKB_TRUST=all\n"),
    "a startup module": ("sitecustomize.py", "open('canary', 'w').close()"),
    "a project file": ("pyproject.toml", "[tool.kb]\nallow = true\n"),
}
VARIABLES = ({"KB_YES": "1"}, {"KB_ALLOW": "disk-full"}, {"KB_TRUST": "all"}, {"CI": "true"}, {"KB_CONSENT": "/", "ASSUME_YES": "1"})


@pytest.fixture
def canary(tmp_path: Path) -> Path:
    """The file that the check of `disk-full` would leave behind."""
    return tmp_path / "canary"


@pytest.fixture
def repository(tmp_path: Path, canary: Path, make_entry: Callable[..., str]) -> Path:
    """A clone whose entry would be noticed if it ran, and a log that matches it."""
    root = tmp_path / "clone"
    build_base(root / "entries", {"data/disk-full": make_entry(symptom=SYMPTOM, verify=f"touch {canary}")})
    (root / "log.txt").write_text(LOG)
    (root / "table.csv").write_text("failure phenomenon,root-cause pattern,verify command\n" + f"{SYMPTOM},disk,touch {canary}\n")
    return root


def test_only_an_allowed_verify_runs_a_check(kb: Kb, repository: Path, canary: Path) -> None:
    """Over forty attempts, through every command, crafted settings, variables and links, run the canary not once."""
    attempts = 0
    for command in [*COMMANDS[:-12], *OTHERS]:
        kb(*command, cwd=repository, input="y\n")
        attempts += 1
    for name, text in TRAPS.values():
        path = repository / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    for number, command in enumerate(REFUSED * 2):
        done = kb(*command, cwd=repository, input="y\ny\ny\n", env=VARIABLES[number % len(VARIABLES)])
        assert (done.returncode, "kb allow disk-full" in done.stderr) == (2, True), (command, done)
        attempts += 1
    link = repository.parent / "linked"
    link.symlink_to(repository / "entries")
    kb("verify", "disk-full", entries=link)
    for command in COMMANDS[-12:]:
        kb(*command, cwd=repository, input="y\n")
        attempts += 1
    kb("verify", "disk-full", entries=link)  # allowed by now, but not at this place

    assert not canary.exists()
    assert attempts + 2 + len(TRAPS) >= 40


def test_an_allowed_check_runs(kb: Kb, repository: Path, canary: Path) -> None:
    """The canary of these tests sings when it may."""
    kb("allow", "disk-full", cwd=repository)
    done = kb("verify", "disk-full", cwd=repository)

    assert (done.returncode, canary.exists()) == (0, True), done


def test_an_edit_of_the_prose_does_not_ask_again(kb: Kb, repository: Path) -> None:
    """Prose, title and outcomes may change; the command may not."""
    kb("allow", "disk-full", cwd=repository)
    path = repository / "entries" / "data" / "disk-full.md"
    for old, new in (("Move the cache.", "Move it elsewhere."), ("tags: [data]", "tags: [data, disk]"), ("# A loader", "# Some loader")):
        path.write_text(path.read_text().replace(old, new))
        assert kb("verify", "disk-full", cwd=repository).returncode == 0
    path.write_text(path.read_text().replace("touch ", "touch  "))
    assert kb("verify", "disk-full", cwd=repository).returncode == 2


def test_several_with_one_not_allowed_is_an_error(kb: Kb, tmp_path: Path, make_entry: Callable[..., str]) -> None:
    """What is allowed runs, what is not is named, and the status is 2."""
    base = build_base(tmp_path / "entries", {"data/one-fault": make_entry(), "data/two-fault": make_entry()})
    kb("allow", "one-fault", entries=base)

    done = kb("verify", "one-fault", "two-fault", entries=base)

    assert done.returncode == 2
    assert "one-fault  confirmed" in done.stdout
    assert "kb allow two-fault" in done.stderr


def test_permission_comes_before_needs(kb: Kb, tmp_path: Path, make_entry: Callable[..., str]) -> None:
    """What is not allowed is refused, also where its needs could not be met anyway."""
    base = build_base(tmp_path / "entries", {"data/some-fault": make_entry().replace("status:", "needs: [windows]\nstatus:")})
    assert kb("verify", "some-fault", entries=base).returncode == 2
    kb("allow", "some-fault", entries=base)

    done = kb("verify", "some-fault", entries=base)

    assert (done.returncode, "needs not met: windows" in done.stdout) == (3, True)


class Terminal:
    """A real terminal with a person in front: what kb shows, and what the person types."""

    def __init__(self, command: list[str], cwd: Path):
        self.master, slave = pty.openpty()
        self.process = subprocess.Popen(command, stdin=slave, stdout=slave, stderr=slave, cwd=cwd, close_fds=True, start_new_session=True)
        os.close(slave)
        self.shown = ""

    def wait_for(self, text: str, seconds: float = 60) -> None:
        """Read until `text` was shown."""
        end = time.monotonic() + seconds
        while text not in self.shown:
            assert time.monotonic() < end, f"{text!r} was not shown: {self.shown!r}"
            if not self._read(0.2) and self.process.poll() is not None:
                raise AssertionError(f"{text!r} was not shown: {self.shown!r}")

    def _read(self, seconds: float) -> bool:
        if not select.select([self.master], [], [], seconds)[0]:
            return False
        try:
            data = os.read(self.master, 65536)
        except OSError:
            return False
        self.shown += data.decode("utf-8", "replace")
        return bool(data)

    def type(self, text: str) -> None:
        """What the person types."""
        os.write(self.master, text.encode())

    def status(self) -> int:
        """Read to the end and give the exit status."""
        while self._read(0.5) or self.process.poll() is None:
            pass
        os.close(self.master)
        return self.process.wait(60)


def kb_at_terminal(*arguments: str, cwd: Path) -> Terminal:
    """The real program on a terminal."""
    return Terminal([sys.executable, "-m", "kbtool", *arguments], cwd)


@pytest.mark.parametrize(("typed", "ran"), [("y\n", True), ("n\n", False), ("\n", False), ("yes\n", True), ("q\n", False)])
def test_a_person_is_asked_once(typed: str, ran: bool, repository: Path, canary: Path, kb: Kb) -> None:
    """At a terminal the check is shown and a person asked; yes is remembered, anything else is no."""
    terminal = kb_at_terminal("verify", "disk-full", cwd=repository)
    terminal.wait_for("[y/N]")
    assert f"touch {canary}" in terminal.shown
    terminal.type(typed)

    assert (terminal.status(), canary.exists()) == (0 if ran else 2, ran)
    assert kb("verify", "disk-full", cwd=repository).returncode == (0 if ran else 2)


def test_what_was_shown_is_what_runs(repository: Path, canary: Path, tmp_path: Path) -> None:
    """The file is swapped between the question and the answer, over and over: the shown bytes run, never the others."""
    path = repository / "entries" / "data" / "disk-full.md"
    shown, evil = path.read_text(), tmp_path / "evil"
    swapped = shown.replace(f"touch {canary}", f"touch {evil}")
    for number in range(3):
        path.write_text(shown.replace("status: active", f"timeout: {number + 60}s\nstatus: active"))
        terminal = kb_at_terminal("verify", "disk-full", cwd=repository)
        terminal.wait_for("[y/N]")
        path.write_text(swapped)
        terminal.type("y\n")

        assert terminal.status() == 2, "the outcome is refused, because the file holds another check now"
        assert canary.exists() and not evil.exists()
        assert path.read_text() == swapped
        canary.unlink()


class Swapper(io.StringIO):
    """A person who answers yes, and somebody who swaps the file at that very moment."""

    def __init__(self, path: Path, swapped: str):
        super().__init__()
        self.path, self.swapped = path, swapped

    def readline(self, size: int | None = -1, /) -> str:
        self.path.write_text(self.swapped)
        return "y\n"


def test_a_thousand_swaps_never_run_what_was_not_shown(repository: Path, canary: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same without a terminal's slowness: swapped between question and answer, the shown bytes run and the others never."""
    path = repository / "entries" / "data" / "disk-full.md"
    shown, evil = path.read_text(), tmp_path / "evil"
    swapped = shown.replace(f"touch {canary}", f"touch {evil}")
    monkeypatch.setenv("KB_ENTRIES", str(path.parent.parent))
    consent = Consent()
    for number in range(proof_count(30, 1000)):
        path.write_text(shown.replace("status: active", f"timeout: {number + 60}s\nstatus: active"))
        plan = Plan(find_targets(["disk-full"], find_layers()), surroundings_of())
        ask_consent(plan.requests(), consent, answers=Swapper(path, swapped))

        run_all(plan, consent)

        assert canary.exists() and not evil.exists()
        assert consent.permission(Request("disk-full", path, Check(f"touch {evil}", confirms="exit zero"))) is Permission.UNKNOWN
        canary.unlink()


UNSEEN = {
    "escape": "echo a\x1b[2K\x1b[1Aecho b",
    "title": "echo \x1b]0;title\x07",
    "clipboard": "echo \x1b]52;c;ZXZpbA==\x07",
    "link": "echo \x1b]8;;http://x\x1b\\text\x1b]8;;\x1b\\",
    "carriage return": "rm -rf x\rls      ",
    "backspace": "rm x\x08\x08\x08\x08ls",
    "delete": "rm\x7f\x7fls",
    "bell": "ls\x07",
    "vertical tab": "ls\x0bx",
    "form feed": "ls\x0cx",
    "tab": "ls\t\t\t\t\t\t\t\t\t\t\trm",
    "NUL": "ls\x00rm",
    "C1 escape": "ls \x9b2K rm",
    "C1 string": "ls \x9d0;x\x9c",
    "next line": "ls\x85rm",
    "right-to-left override": "ls \u202emr\u202c",
    "left-to-right override": "ls \u202drm\u202c",
    "embedding": "ls \u202brm\u202a",
    "isolate": "ls \u2067rm\u2069",
    "first strong isolate": "ls \u2068rm\u2069",
    "Arabic letter mark": "ls \u061crm",
    "marks": "ls \u200erm\u200f",
    "zero width": "l\u200bs r\u200cm\u200d",
    "byte order mark": "ls\ufeff",
    "word joiner": "ls\u2060",
    "line separator": "ls\u2028rm",
    "ten thousand blanks": "ls" + " " * 10_000 + "; rm x",
    "newline": "ls\nrm x",
}


@pytest.mark.parametrize("name", UNSEEN)
def test_what_could_hide_is_shown(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    """No byte that a terminal obeys, no turned or invisible character, reaches the question; the rest of the command does."""
    show_request(Request("some-fault", Path("/base/data/some-fault.md"), Check(UNSEEN[name])))

    shown = capsys.readouterr().err
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]", shown)
    assert len(shown.splitlines()) == 3
    if "blanks" in name:
        assert "ls[10000 blanks]; rm x" in shown, "what follows many blanks must not leave the screen"


def test_a_check_of_several_lines_is_no_check(kb: Kb, tmp_path: Path, make_entry: Callable[..., str]) -> None:
    """A second line of a check can not hide: the entry is an error, with path and line."""
    base = build_base(tmp_path / "entries", {"data/two-lines": make_entry(verify="true\nrm -rf x")})

    done = kb("verify", "two-lines", entries=base)

    assert done.returncode == 2
    assert re.search(r"two-lines\.md:\d+: .*exactly one", done.stderr)

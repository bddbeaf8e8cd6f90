"""The entry remembers: no outcome is torn, lost or doubled, whoever is killed or writes at the same time."""

from __future__ import annotations

import itertools
import os
import random
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from kbtool.durable import TEMPORARY_PREFIX
from kbtool.errors import RefusedError
from kbtool.knowledge import writing
from kbtool.knowledge.entry import read_entry
from kbtool.knowledge.writing import append_outcome
from kbtool.model import Outcome, Verdict
from tests.conftest import Kb, build_base
from tests.verification.conftest import proof_count

WRITER = """
import sys
from pathlib import Path
from kbtool.errors import KbError
from kbtool.knowledge.entry import read_entry
from kbtool.knowledge.writing import append_outcome
from kbtool.model import Outcome, Verdict

paths, count, name = sys.argv[1].split(":"), int(sys.argv[2]), sys.argv[3]
digest = read_entry(Path(paths[0]), "data").check.digest
for number in range(count):
    outcome = Outcome("2026-11-30 16:20Z", Verdict.REFUTED, digest, 1, 0.01, "linux", f"{name}-{number}")
    append_outcome(Path(paths[number % len(paths)]), outcome, expect_check=digest)
    print(f"{name}-{number}", flush=True)
"""


def writer(paths: list[Path], count: int, name: str) -> subprocess.Popen[str]:
    """A process that records `count` outcomes, one entry after the other, and says each one that it was told is safe."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    command = [sys.executable, "-c", WRITER, ":".join(map(str, paths)), str(count), name]
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def notes(path: Path) -> list[str]:
    """The notes of an entry's outcomes; reading proves that the file parses."""
    return [outcome.note for outcome in read_entry(path, "data").outcomes]


def test_kill_at_any_moment_loses_nothing(tmp_path: Path, make_entry: Callable[..., str]) -> None:
    """kill -9 while recording: every file parses, every outcome that was acknowledged is there, none is there twice."""
    kills, chance = proof_count(12, 200), random.Random(20261130)
    base = build_base(tmp_path / "entries", {f"data/fault-{number}": make_entry() for number in range(50)})
    paths = sorted((base / "data").glob("fault-*.md"))
    acknowledged: set[str] = set()
    for number in range(kills):
        process = writer(paths, 100_000, f"w{number}")
        assert process.stdout is not None
        first = process.stdout.readline()
        time.sleep(chance.random() * 0.1)  # the moment of the kill, not a wait for anything
        process.send_signal(signal.SIGKILL)
        rest, _ = process.communicate()
        acknowledged |= {line for line in (first + rest).splitlines(keepends=True) if line.endswith("\n")}
    found = [note for path in paths for note in notes(path)]

    assert {line.strip() for line in acknowledged} <= set(found)
    assert len(found) == len(set(found))
    assert len(acknowledged) >= kills
    assert all(path.name.startswith((TEMPORARY_PREFIX, "fault-", "README")) for path in (base / "data").iterdir())


def test_many_writers_at_once(tmp_path: Path, make_entry: Callable[..., str]) -> None:
    """Several processes record into one entry at the same time: all rows are there, each once."""
    writers, each = proof_count(8, 20), proof_count(10, 50)
    base = build_base(tmp_path / "entries", {"data/some-fault": make_entry()})
    path = base / "data" / "some-fault.md"

    processes = [writer([path], each, f"w{number}") for number in range(writers)]
    for process in processes:
        _, errors = process.communicate(timeout=300)
        assert process.returncode == 0, errors

    assert sorted(notes(path)) == sorted(f"w{writer}-{number}" for writer in range(writers) for number in range(each))


def test_a_killed_holder_frees_the_lock(tmp_path: Path, make_entry: Callable[..., str]) -> None:
    """The lock of a killed writer is free at once for the next one."""
    base = build_base(tmp_path / "entries", {"data/some-fault": make_entry()})
    program = f"from kbtool.durable import locked; from pathlib import Path; import time\nwith locked(Path({str(base)!r})):\n    print('held', flush=True); time.sleep(600)"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    holder = subprocess.Popen([sys.executable, "-c", program], env=environment, stdout=subprocess.PIPE, text=True)
    assert holder.stdout is not None and holder.stdout.readline() == "held\n"
    waiting = writer([base / "data" / "some-fault.md"], 1, "next")
    assert waiting.stdout is not None

    holder.kill()
    holder.wait()
    _, errors = waiting.communicate(timeout=300)

    assert waiting.returncode == 0, errors  # a lock that stays is given up with an error
    assert notes(base / "data" / "some-fault.md") == ["next-0"]


STEPS = ("before it begins", "after it read", "while it parses", "when the new bytes are safe", "after the rename")
"""Where, inside of recording one outcome, a person saves the file."""

SAVES: dict[str, Callable[[bytes], bytes]] = {
    "a line of prose": lambda text: text.replace(b"Move the cache.", b"Move the cache to a larger disk."),
    "a new section": lambda text: text.replace(b"## Fix", b"## Notes" + newline(text) * 2 + b"Seen twice." + newline(text) * 2 + b"## Fix"),
    "a tag": lambda text: text.replace(b"[data]", b"[data, disk]"),
    "another check": lambda text: text.replace(b"exit zero", b"exit nonzero"),
}
"""What the person changes."""

EDITORS: dict[str, Callable[[Path, bytes], object]] = {
    "by renaming": lambda path, data: (path.with_suffix(".new").write_bytes(data), os.replace(path.with_suffix(".new"), path)),
    "in place": lambda path, data: path.write_bytes(data),
}
"""How editors save."""

SHAPES = ("plain", "with outcomes", "without a last newline")


def newline(text: bytes) -> bytes:
    """The line ending of a file."""
    return b"\r\n" if b"\r\n" in text else b"\n"


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("step", STEPS)
def test_a_person_saves_at_any_moment(step: str, shape: str, tmp_path: Path, make_entry: Callable[..., str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Over a hundred interleavings of a person's save with a recording: neither loses anything, and a changed check refuses the outcome."""
    base = build_base(tmp_path / "entries", {"data/some-fault": make_entry()})
    path = base / "data" / "some-fault.md"
    for change, editor, ending in itertools.product(SAVES, EDITORS, ("\n", "\r\n")):
        path.write_bytes(_shaped(make_entry().replace("\n", ending).encode(), shape, path))
        before = path.read_bytes()
        digest = _digest(path)
        person = Person(path, SAVES[change], EDITORS[editor])
        refused = False
        with monkeypatch.context() as patch:
            person.saves_at(step, patch)
            try:
                append_outcome(path, Outcome("2026-11-30 16:20Z", Verdict.REFUTED, digest, 1, 0.01, "linux", "the new row"), expect_check=digest)
            except RefusedError:
                refused = True
            if step == STEPS[-1]:
                person.save()
        assert person.saved, (change, editor)
        after = path.read_bytes()
        assert refused is (change == "another check" and step != STEPS[-1])
        assert after == person.wrote if refused or step == STEPS[-1] else after.count(b"the new row") == 1
        without = b"".join(line for line in after.splitlines(keepends=True) if b"the new row" not in line)
        wanted = SAVES[change](before)
        assert without.startswith(wanted.rstrip()) if shape != "with outcomes" else without == wanted


class Person:
    """Somebody who saves the file once, at a given step of a recording."""

    def __init__(self, path: Path, change: Callable[[bytes], bytes], editor: Callable[[Path, bytes], object]):
        self.path, self.change, self.editor = path, change, editor
        self.saved = False
        self.wrote = b""

    def save(self) -> None:
        """Read, change, write back; only the first time."""
        if not self.saved:
            self.saved = True
            self.wrote = self.change(self.path.read_bytes())
            self.editor(self.path, self.wrote)

    def saves_at(self, step: str, patch: pytest.MonkeyPatch) -> None:
        """Let the person save when the recording reaches `step`."""
        if step == "before it begins":
            self.save()
        elif step == "after it read":
            self._after(patch, writing, "_read")
        elif step == "while it parses":
            self._after(patch, writing, "parse_document")
        elif step == "when the new bytes are safe":
            self._after(patch, os, "fsync")

    def _after(self, patch: pytest.MonkeyPatch, owner: object, name: str) -> None:
        real = getattr(owner, name)

        def then_save(*arguments: object, **named: object) -> object:
            result = real(*arguments, **named)
            self.save()
            return result

        patch.setattr(owner, name, then_save)


def _digest(path: Path) -> str:
    check = read_entry(path, "data").check
    assert check is not None
    return check.digest


def _shaped(text: bytes, shape: str, path: Path) -> bytes:
    """The entry with an outcome already, or without its last line ending."""
    if shape == "without a last newline":
        return text.rstrip()
    if shape == "with outcomes":
        path.write_bytes(text)
        append_outcome(path, Outcome("2026-11-30 16:00Z", Verdict.CONFIRMED, _digest(path), 0, 0.01, "linux", "an old row"), expect_check=_digest(path))
        return path.read_bytes()
    return text


def test_a_check_that_changed_while_it_ran_refuses_the_outcome(kb: Kb, tmp_path: Path, make_entry: Callable[..., str]) -> None:
    """The check rewrites its own entry: the outcome belongs to a check that is no longer there, and is refused with status 2."""
    path = tmp_path / "entries" / "data" / "some-fault.md"
    base = build_base(tmp_path / "entries", {"data/some-fault": make_entry(verify=f"sed -i.bak s/zero/nonzero/ {path}")})
    kb("allow", "some-fault", entries=base)

    done = kb("verify", "some-fault", entries=base)

    assert done.returncode == 2
    assert "the check changed since it ran" in done.stderr
    assert "Outcomes" not in path.read_text()


def test_the_row_says_what_when_and_where(kb: Kb, tmp_path: Path, make_entry: Callable[..., str]) -> None:
    """`kb verify` adds the section at the end and one row with time, verdict, digest, exit status, duration, environment, evidence."""
    base = build_base(tmp_path / "entries", {"data/some-fault": make_entry(verify="echo 65536", confirms="stdout < 1048576")})
    path = base / "data" / "some-fault.md"
    before = path.read_text()
    kb("allow", "some-fault", entries=base)

    done = kb("verify", "some-fault", entries=base)

    after = path.read_text()
    assert (done.returncode, after.startswith(before)) == (0, True)
    row = after.splitlines()[-1]
    assert re.fullmatch(r"\| 20\d\d-\d\d-\d\d \d\d:\d\dZ \| confirmed \| [0-9a-f]{8} \| 0 \| [\d.]+ m?s \| linux · py3[^|]* \| stdout: 65536 \|", row), row
    assert [line for line in after[len(before) :].splitlines() if line] == ["## Outcomes", *after.splitlines()[-3:]]


def test_secrets_that_a_check_prints_are_kept_nowhere(kb: Kb, own_world: Path, tmp_path: Path, make_entry: Callable[..., str]) -> None:
    """A token in a check's output reaches neither the entry nor the journal, the cache or what kb prints."""
    token = "hf_" + "Ab3dEf9hIj" * 3 + "Kl5m"
    (tmp_path / "token").write_text(f"token {token} 5\n")
    base = build_base(tmp_path / "entries", {"data/some-fault": make_entry(verify=f"cat {tmp_path / 'token'}", confirms="stdout contains token")})
    kb("allow", "some-fault", entries=base)

    shown = [kb("verify", "some-fault", entries=base), kb("verify", "some-fault", "--json", entries=base)]

    assert [done.returncode for done in shown] == [0, 0]
    assert not [done for done in shown if token in done.stdout + done.stderr]
    kept = [path for folder in (own_world, base) for path in folder.rglob("*") if path.is_file()]
    assert [path for path in kept if token.encode() in path.read_bytes()] == []
    assert any(b"[hidden:" in path.read_bytes() for path in kept)


def test_old_outcomes_go_stale_with_the_check(kb: Kb, tmp_path: Path, make_entry: Callable[..., str]) -> None:
    """A changed check has another digest: older rows stay, and are not counted for it."""
    base = build_base(tmp_path / "entries", {"data/some-fault": make_entry()})
    path = base / "data" / "some-fault.md"
    kb("allow", "some-fault", entries=base)
    kb("verify", "some-fault", entries=base)
    path.write_text(path.read_text().replace("confirms: exit zero", "confirms: exit nonzero"))
    kb("allow", "some-fault", entries=base)

    assert kb("verify", "some-fault", entries=base).returncode == 1

    outcomes = read_entry(path, "data").outcomes
    assert [outcome.verdict.value for outcome in outcomes] == ["confirmed", "refuted"]
    assert outcomes[0].check != outcomes[1].check


def test_an_entry_that_can_not_be_written_gets_the_verdict_later(kb: Kb, tmp_path: Path, make_entry: Callable[..., str]) -> None:
    """Where the entry can not be written the verdict and its status stand, the journal has it, and it is written when it can be."""
    base = build_base(tmp_path / "entries", {"data/some-fault": make_entry()})
    path = base / "data" / "some-fault.md"
    kb("allow", "some-fault", entries=base)
    full = {"KB_TEST_FULL_DISK": "1", "PYTHONPATH": os.pathsep.join([str(_full_disk(tmp_path)), *(part for part in sys.path if part)])}

    done = kb("verify", "some-fault", "--json", entries=base, env=full)

    assert done.returncode == 0, done
    assert '"recorded": false' in done.stdout and "No space left on device" in done.stderr
    assert "Outcomes" not in path.read_text()

    told = kb("verify", "some-fault", entries=base)
    assert "1 earlier outcome of `some-fault` could not be written" in told.stderr
    late = kb("verify", "--pending", entries=base)
    assert late.returncode == 0, late
    assert [outcome.verdict.value for outcome in read_entry(path, "data").outcomes] == ["confirmed", "confirmed"]
    assert "no outcome waits" in kb("verify", "--pending", entries=base).stderr


def _full_disk(tmp_path: Path) -> Path:
    """A startup module that fills the disk for entries: none can be replaced."""
    folder = tmp_path / "full"
    folder.mkdir()
    (folder / "sitecustomize.py").write_text(
        "import os, errno\n"
        "if os.environ.get('KB_TEST_FULL_DISK'):\n"
        "    real = os.replace\n"
        "    def replace(source, target, **options):\n"
        "        if str(target).endswith('.md'):\n"
        "            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(target))\n"
        "        return real(source, target, **options)\n"
        "    os.replace = replace\n"
    )
    return folder


def test_ranks_of_one_job_make_one_row(kb: Kb, tmp_path: Path, make_entry: Callable[..., str]) -> None:
    """Every rank of a job verifies at the same time: one row for each verdict, with a count; the next job starts its own."""
    ranks = proof_count(4, 8)
    base = build_base(tmp_path / "entries", {"data/some-fault": make_entry(verify='test "$RANK" -lt 2')})
    path = base / "data" / "some-fault.md"
    kb("allow", "some-fault", entries=base)
    command = [sys.executable, "-m", "kbtool", "--entries", str(base), "verify", "some-fault"]
    for job in ("a", "b"):
        environment = {**os.environ, "TORCHELASTIC_RUN_ID": job, "WORLD_SIZE": str(ranks)}
        processes = [subprocess.Popen(command, env={**environment, "RANK": str(rank)}, stdout=subprocess.DEVNULL) for rank in range(ranks)]
        assert sorted(process.wait(120) for process in processes) == [0, 0] + [1] * (ranks - 2)

    rows = [(outcome.verdict.value, outcome.count) for outcome in read_entry(path, "data").outcomes]
    assert sorted(rows) == sorted([("confirmed", 2), ("refuted", ranks - 2)] * 2)


def test_a_shipped_entry_is_copied_into_the_users_base(kb: Kb, own_world: Path) -> None:
    """The outcome of a shipped entry goes to a copy in the user's own base; its permission follows, the shipped file stays."""
    from kbtool import settings

    shipped = next(settings.shipped_entries().glob("*/loader-shared-memory-too-small.md"))
    before, earlier = shipped.read_bytes(), len(read_entry(shipped, "data").outcomes)
    kb("allow", shipped.stem)

    first, second = kb("verify", shipped.stem), kb("verify", shipped.stem)

    own = own_world / "data" / "kb" / "entries" / "data" / shipped.name
    assert (first.returncode, second.returncode) == (1, 1), (first, second)
    assert str(own) in first.stderr
    assert len(read_entry(own, "data").outcomes) == earlier + 2
    assert shipped.read_bytes() == before


NEVER_RAN: dict[str, tuple[dict[str, str], list[str], str]] = {
    "a need is not met": ({"needs": "[command:no-such-command]"}, [], "needs not met"),
    "the prefix does not exist": ({}, ["--via", "no-such-prefix exec trainer"], "command not found: no-such-prefix"),
    "values are not at hand": ({"verify": "max(labels) >= classes", "confirms": "true", "language": "python"}, [], "values not at hand"),
}
"""Parts of an entry and options with which its check can not run here, and how kb says so."""


@pytest.mark.parametrize("name", NEVER_RAN)
def test_a_check_that_did_not_run_leaves_the_entry_alone(name: str, kb: Kb, tmp_path: Path, make_entry: Callable[..., str]) -> None:
    """Nothing is written into the entry, nothing waits to be written, and the exit code still says inconclusive."""
    parts, options, reason = NEVER_RAN[name]
    language, needs = parts.get("language", "sh"), parts.get("needs", "[]")
    text = make_entry(**parts).replace("```sh", f"```{language}").replace("status: active\n", f"needs: {needs}\nstatus: active\n")
    base = build_base(tmp_path / "entries", {"data/some-fault": text})
    path = base / "data" / "some-fault.md"
    before = path.read_bytes()
    kb("allow", "some-fault", *options, entries=base)

    done = kb("verify", "some-fault", *options, entries=base)
    waiting = kb("verify", "--pending", entries=base)

    assert done.returncode == 3 and reason in done.stdout
    assert "nothing recorded: the check did not run" in done.stderr
    assert path.read_bytes() == before
    assert "no outcome waits" in waiting.stderr


@pytest.mark.parametrize("command", ["true", "no-such-command --query | tail -1"])
def test_a_check_that_ran_in_vain_leaves_its_row(command: str, kb: Kb, tmp_path: Path, make_entry: Callable[..., str]) -> None:
    """A check that ran and gave no answer is an outcome: it tells of the check, also that it lacks `needs` for its command."""
    base = build_base(tmp_path / "entries", {"data/some-fault": make_entry(verify=command, confirms="stdout > 3")})
    kb("allow", "some-fault", entries=base)

    done = kb("verify", "some-fault", entries=base)

    assert done.returncode == 3
    assert "| inconclusive |" in (base / "data" / "some-fault.md").read_text()


def test_a_shipped_entry_is_not_copied_for_a_check_that_did_not_run(kb: Kb, own_world: Path) -> None:
    """Asking a shipped entry's expression without its values makes no copy in the user's base."""
    kb("allow", "label-out-of-range", entries=None)

    done = kb("verify", "label-out-of-range", entries=None)

    assert done.returncode == 3 and "values not at hand" in done.stdout
    assert not list((own_world / "data").rglob("*.md"))

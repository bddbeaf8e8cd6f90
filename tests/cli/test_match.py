"""kb match from outside: streams, exit codes, imports, terminals."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import Kb, build_base

TEXT = "OSError: [Errno 28] No space left on device\n"

FORBIDDEN = ("yaml", "rich", "markdown_it", "numpy", "torch", "pydantic", "importlib.metadata", "asyncio", "hashlib", "dataclasses", "tempfile")


def test_a_fresh_index_is_matched_without_heavy_imports(kb: Kb, base: Path) -> None:
    """None of the modules that cost start-up time is imported once the index is fresh."""
    kb("match", input=TEXT, entries=base)
    program = (
        "import sys\nsys.argv = ['kb', '--entries', sys.argv[1], 'match', '--json']\n"
        "from kbtool.__main__ import main\n"
        "try:\n    main()\nexcept SystemExit as end:\n    assert end.code == 0, end.code\n"
        f"print(sorted(name for name in {FORBIDDEN!r} if name in sys.modules), file=sys.stderr)\n"
    )
    done = subprocess.run([sys.executable, "-c", program, str(base)], input=TEXT, capture_output=True, text=True, timeout=120)

    assert done.stderr.strip() == "[]"


def test_exit_codes_and_schema(kb: Kb, base: Path) -> None:
    """0 with matches, 1 without, 2 for a file that is not there; the JSON has every key of schema 1."""
    found, nothing, missing = kb("match", "--json", input=TEXT, entries=base), kb("match", "--json", input="all is well\n", entries=base), kb("match", "no.log", entries=base)

    assert (found.returncode, nothing.returncode, missing.returncode) == (0, 1, 2)
    data = json.loads(found.stdout)
    assert set(data) == {"schema", "error", "matches", "domain", "truncated"}
    assert set(data["matches"][0]) == {"id", "title", "domain", "score", "confidence", "root_cause", "verify", "confirms", "fix", "path", "why", "outcomes"}
    assert data["matches"][0]["why"][0]["line"] == 1
    assert json.loads(nothing.stdout)["matches"] == []
    assert "can not be read" in missing.stderr


def test_nothing_known_gives_the_domain_and_its_first_action(kb: Kb, base: Path) -> None:
    """A failure without an entry: the domain page whose keyword stands in the text says what to do first."""
    done = kb("match", input="ValueError: this is a data failure of a new kind\n", entries=base)

    assert done.returncode == 1
    assert "Look at the data first." in done.stdout


def test_without_input_on_a_terminal_it_says_so(base: Path) -> None:
    """Instead of waiting for somebody to type a log."""
    pty = pytest.importorskip("pty")
    main, side = pty.openpty()
    try:
        done = subprocess.run([sys.executable, "-m", "kbtool", "--entries", str(base), "match"], stdin=side, capture_output=True, text=True, timeout=120)
    finally:
        os.close(main)
        os.close(side)

    assert done.returncode == 2 and "nothing was given" in done.stderr and "hint:" in done.stderr


def test_tee_passes_the_input_through_and_answers_on_stderr(kb: Kb, base: Path) -> None:
    """stdout is the input, byte for byte."""
    done = kb("match", "--tee", input=TEXT, entries=base)

    assert done.stdout == TEXT
    assert "disk-full" in done.stderr


def test_a_reader_of_the_passed_on_text_may_stop_early(base: Path, tmp_path: Path) -> None:
    """`kb match --tee FILE | head -1` is no fault of the file: nothing is said of it."""
    log = tmp_path / "train.log"
    log.write_text("a line\n" * 100_000 + TEXT)
    job = subprocess.Popen([sys.executable, "-m", "kbtool", "--entries", str(base), "match", "--tee", str(log)], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert job.stdout is not None and job.stderr is not None
    assert job.stdout.readline() == b"a line\n"
    job.stdout.close()
    told = job.stderr.read()
    job.stderr.close()
    job.wait(timeout=60)

    assert b"can not be read" not in told and b"Traceback" not in told


@pytest.mark.parametrize("place", ["first", "middle", "last"])
def test_a_large_stream_is_answered_like_a_small_one(place: str, base: Path) -> None:
    """48 MiB of lines that look like errors and are all different: the cause is named, and the program's peak stays below 100 MiB."""
    resource = pytest.importorskip("resource")
    assert resource
    # a process of its own in between, since the peak of children counts what they were forked from
    program = (
        "import resource, subprocess, sys\n"
        "done = subprocess.run([sys.executable, '-m', 'kbtool', *sys.argv[1:]], stdin=0, stdout=1)\n"
        "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, file=sys.stderr)\n"
        "sys.exit(done.returncode)\n"
    )
    chance = random.Random(5)
    block = b"".join(b"11:%02d ERROR [worker-%d] failed to read %s, retrying\n" % (i % 60, i % 16, chance.randbytes(12).hex().encode()) for i in range(60_000))
    half = block * (24 * 2**20 // len(block))
    parts = {"first": (block[:500], half, half), "middle": (half, half), "last": (half, half, block[:500])}[place]
    at = -1 if place == "last" else 1
    data = b"".join(parts[:at]) + b"\n" + TEXT.encode() + b"".join(parts[at:])
    done = subprocess.run([sys.executable, "-c", program, "--entries", str(base), "match", "--json"], input=data, capture_output=True, timeout=300)

    answer = json.loads(done.stdout)
    assert (done.returncode, answer["truncated"], [match["id"] for match in answer["matches"]][:1]) == (0, True, ["disk-full"])
    assert int(done.stderr.split()[-1]) / (1024 if sys.platform == "darwin" else 1) < 100 * 1024


def test_explain_names_tokens_and_the_runner_up(kb: Kb, tmp_path: Path, make_entry: Callable[..., str]) -> None:
    """Found tokens with weights, what is missing, and how far the next one is behind."""
    base = build_base(tmp_path / "two", {"data/disk-full": make_entry(), "data/quota": make_entry(title="A quota is used up", symptom="OSError: [Errno 122] Disk quota exceeded")})
    text = kb("match", "--explain", input=TEXT, entries=base).stdout
    data = json.loads(kb("match", "--explain", "--json", input=TEXT, entries=base).stdout)["explain"]

    assert "behind the first" in text and "errno#28" in text
    assert [one["id"] for one in data["candidates"]] == ["disk-full", "quota"]
    assert data["candidates"][1]["behind"] > 0 and "errno#28" in dict(data["candidates"][0]["found"])


def test_controls_of_logs_and_entries_never_reach_the_terminal(kb: Kb, tmp_path: Path, make_entry: Callable[..., str]) -> None:
    """Escape sequences, C1, bidi and zero-width characters in every field of entry and log come out visible."""
    evil = "\x1b]52;c;AAAA\x07\x1b[2J\x9b31m\u202e\u200b\x08"
    text = make_entry(title=f"Disk {evil}", root_cause=f"Cause {evil}.", fix=f"Fix {evil}.")
    base = build_base(tmp_path / "evil", {"data/disk-full": text.replace("\x1b", "\x1b")})
    for arguments in (["match"], ["match", "--explain"], ["match", "--json"]):
        done = kb(*arguments, input=f"{evil}OSError: [Errno 28] No space left on device {evil}\n", entries=base)
        shown = done.stdout + done.stderr
        assert not [char for char in shown if (ord(char) < 32 and char not in "\n\t") or 0x7F <= ord(char) <= 0x9F or char in "\u202e\u200b"], arguments


def test_an_entry_in_chinese_is_found_by_a_log_in_chinese(kb: Kb, tmp_path: Path, make_entry: Callable[..., str]) -> None:
    """显存不足 finds its entry among others."""
    base = build_base(tmp_path / "zh", {"training/gpu-memory": make_entry(title="显存不足：批大小过大", symptom="错误：显存不足，无法分配张量"), "data/disk-full": make_entry()})
    done = kb("match", "--json", input="训练失败\n错误：显存不足，无法分配张量\n", entries=base)

    assert json.loads(done.stdout)["matches"][0]["id"] == "gpu-memory"


def test_a_closed_pipe_is_no_error(kb: Kb, base: Path) -> None:
    """`kb match … | head -1` ends quietly, ten times over."""
    kb("match", input=TEXT, entries=base)
    for _ in range(10):
        done = subprocess.run(
            ["bash", "-c", f"set -o pipefail; printf 'OSError: [Errno 28] No space left on device\\n' | {sys.executable} -m kbtool --entries {base} match | head -1"],
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert (done.returncode, done.stderr) == (0, "")

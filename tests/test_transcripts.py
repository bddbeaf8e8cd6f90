"""What the documents print is what the program prints: transcripts are run and compared line by line.

`tests/transcripts/*.txt` hold commands (`$ …`) and their output, stdout and stderr as a person sees them. They run in a copy of the
checkout's entries and examples. `tests/run --regenerate tests/test_transcripts.py` writes them anew. What differs between machines and
moments is masked in both texts.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
TRANSCRIPTS = sorted((ROOT / "tests" / "transcripts").glob("*.txt"))

MASKS = (
    (re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d)?Z"), "2026-11-30 16:20Z"),
    (re.compile(r"(?<!timeout: )\b\d+(\.\d+)? (ms|s)\b"), "12 ms"),
    (re.compile(r"linux · py3\.\d+ · [^|\n]*?( \||$)", re.MULTILINE), r"linux · py3.11 · torch 2.13.0+cpu · no GPU\1"),
    (re.compile(r"\b(strong|possible) \d+%"), r"\1 95%"),
    (re.compile(r"/[^\s|]*/consent/allow/[0-9a-f]+\.json"), "~/.local/state/kb/consent/allow/….json"),
)
"""What may differ: moments, durations, the environment, the probability (its label may not), where consent lies."""


def masked(text: str) -> str:
    """The text without what may differ."""
    for pattern, replacement in MASKS:
        text = pattern.sub(replacement, text)
    return text


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of what a reader of the README has, with `./kb` and `kb` as this program."""
    copy = tmp_path / "kb"
    copy.mkdir()
    for name in ("entries", "examples"):
        shutil.copytree(ROOT / name, copy / name)
    shim = f'#!/bin/sh\nexec "{sys.executable}" -m kbtool "$@"\n'
    for place in (copy / "kb", tmp_path / "bin" / "kb"):
        place.parent.mkdir(exist_ok=True)
        place.write_text(shim)
        place.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}")
    return copy


def commands(transcript: str) -> list[str]:
    """The command lines of a transcript, continuation lines included."""
    return [line[2:] for line in transcript.splitlines() if line.startswith("$ ")]


def run(transcript: str, checkout: Path) -> str:
    """The transcript as the program writes it now."""
    written = []
    for command in commands(transcript):
        done = subprocess.run(
            ["bash", "-c", command], cwd=checkout, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=120
        )
        written.append(f"$ {command}\n{done.stdout.replace(str(checkout), '…')}")
    return "".join(written)


@pytest.mark.parametrize("path", TRANSCRIPTS, ids=lambda path: path.stem)
def test_transcript(path: Path, checkout: Path, request: pytest.FixtureRequest) -> None:
    """Each command prints what the transcript says."""
    written = run(path.read_text(encoding="utf-8"), checkout)
    if request.config.getoption("--regenerate"):
        path.write_text(masked(written), encoding="utf-8")

    assert masked(written) == masked(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("page", [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))], ids=lambda page: page.name)
def test_console_blocks_are_transcripts(page: Path) -> None:
    """Every console block of a document stands word for word in a transcript."""
    blocks = re.findall(r"^```console\n(.*?)^```$", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    known = "\n".join(path.read_text(encoding="utf-8") for path in TRANSCRIPTS)

    assert [block for block in blocks if block not in known] == []

"""What every test may use: the real program in a subprocess, and a world of its own to run it in."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent

ENTRY = """\
---
tags: [{domain}]
confirms: {confirms}
status: active
created: 2026-11-30
---

# {title}

## Symptom

```text
{symptom}
```

## Root cause

{root_cause}

## Verify

```sh
{verify}
```

## Fix

{fix}
"""

DOMAIN_PAGE = """\
---
keywords: [{domain} failure]
---

# {domain}

## First action

Look at the {domain} first.

## Minimal check

```sh
true
```
"""


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--regenerate` writes the transcripts as the program prints them now."""
    parser.addoption("--regenerate", action="store_true", help="write tests/transcripts anew")


@pytest.fixture(autouse=True)
def own_world(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """HOME and the XDG folders are temporary in every test, and no setting of the person who runs the tests leaks in."""
    world = tmp_path_factory.mktemp("world")
    for variable, name in {
        "HOME": "home",
        "XDG_CACHE_HOME": "cache",
        "XDG_STATE_HOME": "state",
        "XDG_DATA_HOME": "data",
        "XDG_CONFIG_HOME": "config",
    }.items():
        (world / name).mkdir()
        monkeypatch.setenv(variable, str(world / name))
    for variable in [name for name in os.environ if name.startswith("KB_") and name != "KB_PROOFS"]:
        monkeypatch.delenv(variable)
    for variable in ("RANK", "SLURM_PROCID", "LOCAL_RANK", "WORLD_SIZE"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "100")
    return world


Kb = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def kb(tmp_path: Path) -> Kb:
    """Run the real program: `kb("match", "log.txt", input="…", entries=base)`; in an empty folder unless `cwd` is given."""

    def run(
        *arguments: str | Path,
        input: str | bytes = "",
        entries: Path | None = None,
        cwd: Path | None = None,
        env: dict[str, str] | None = None,
        timeout: float = 300,
    ) -> subprocess.CompletedProcess[str]:
        where = cwd or tmp_path / "elsewhere"
        where.mkdir(exist_ok=True)
        chosen: Sequence[str] = ("--entries", str(entries)) if entries else ()
        command = [sys.executable, "-m", "kbtool", *chosen, *map(str, arguments)]
        data = input.encode("utf-8", "surrogateescape") if isinstance(input, str) else input
        done = subprocess.run(command, input=data, capture_output=True, cwd=where, env={**os.environ, **(env or {})}, timeout=timeout)
        text = {name: getattr(done, name).decode("utf-8", "replace") for name in ("stdout", "stderr")}
        return subprocess.CompletedProcess(command, done.returncode, text["stdout"], text["stderr"])

    return run


@pytest.fixture
def make_entry() -> Callable[..., str]:
    """The text of a valid entry; any part can be given by name."""

    def make(**parts: str) -> str:
        given = {
            "domain": "data",
            "confirms": "exit zero",
            "title": "A loader dies because the disk is full",
            "symptom": "OSError: [Errno 28] No space left on device",
            "root_cause": "The cache folder lies on a small disk. It fills up.",
            "verify": "true",
            "fix": "Move the cache.",
            **parts,
        }
        return ENTRY.format(**given)

    return make


@pytest.fixture
def base(tmp_path: Path, make_entry: Callable[..., str]) -> Path:
    """A base of one domain (`data`) and one entry (`disk-full`)."""
    return build_base(tmp_path / "base" / "entries", {"data/disk-full": make_entry()})


def build_base(root: Path, entries: dict[str, str]) -> Path:
    """Write a base: `entries` maps ``domain/id`` to the entry's text; each domain gets its page."""
    for name, text in entries.items():
        path = root / f"{name}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        page = path.parent / "README.md"
        if not page.exists():
            page.write_text(DOMAIN_PAGE.format(domain=path.parent.name), encoding="utf-8")
        path.write_bytes(text.encode("utf-8"))
    return root

"""Helpers of the verification tests: entries in memory, checks that really run, and a count that grows for the full proof."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from kbtool.model import Check, Entry
from kbtool.verification.consent import Consent, Request
from kbtool.verification.environment import Fingerprint

FULL = os.environ.get("KB_PROOFS") == "full"


def proof_count(usual: int, full: int) -> int:
    """How often a proof repeats: `KB_PROOFS=full` asks for the whole number."""
    return full if FULL else usual


HERE = Fingerprint({"system": {"os": "linux"}, "python": {"version": "3.11.7", "site": []}, "gpus": [], "torch": None, "packages": {}})
"""A fingerprint for tests that are not about fingerprints: asking takes a process."""


@pytest.fixture
def python_on_path(monkeypatch: pytest.MonkeyPatch) -> None:
    """`python` is the one that runs the tests, as in an activated environment."""
    monkeypatch.setenv("VIRTUAL_ENV", sys.prefix)
    monkeypatch.setenv("PATH", os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]))


@pytest.fixture
def allowed_entry(tmp_path: Path) -> Callable[..., Entry]:
    """An entry with this check, allowed to run."""

    def make(command: str, confirms: str | None = "exit zero", **parts: object) -> Entry:
        check = Check(command, confirms=confirms, **parts)  # type: ignore[arg-type]
        entry = Entry("some-fault", "data", tmp_path / "some-fault.md", "title", ("text",), "cause.", check)
        Consent().allow(Request(entry.id, entry.path, check))
        return entry

    return make

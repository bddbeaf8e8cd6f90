"""The environment fingerprint: what is true of the place where a check runs, asked there and not of kb's own python.

One child process answers all questions (`probe`), on this machine or behind a prefix; nothing is imported into kb. Facts that could
not be had are None and have their reason in `unknown`.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import sys
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kbtool import settings
from kbtool.durable import write_atomically
from kbtool.verification.process import run_command
from kbtool.verification.shell import Surroundings, find_python, shell_program, surroundings_of, with_python

PROBE_SECONDS = 2.0
"""Time limit of one question that waits for somebody else; one that computes has more (see `probe`)."""

DEEP_SECONDS = 60.0
"""Time limit where torch is imported."""

START_SECONDS = 3.0
"""Time that the python asked may take to start and to end."""

FRESH_SECONDS = 60.0
"""Age up to which a remembered fingerprint serves for another check."""

REMEMBERED = 8
"""Fingerprints kept in the cache folder: one for each environment and prefix."""

_SITE = re.compile(r'File "([^"\n]*?/(?:site|dist)-packages)/')


@dataclass(frozen=True)
class Fingerprint:
    """Facts by the names of the probes, and why the missing ones are missing."""

    facts: Mapping[str, Any] = field(default_factory=dict)
    unknown: Mapping[str, str] = field(default_factory=dict)
    via: str = ""

    def fact(self, name: str, key: str | None = None) -> Any:
        """A fact, or one value of it; None where it is unknown."""
        value = self.facts.get(name)
        if key is None:
            return value
        return value.get(key) if isinstance(value, Mapping) else None

    def short(self) -> str:
        """The line that goes into an outcome: ``linux · py3.11 · torch 2.13.0+cpu · no GPU``."""
        python = self.fact("python", "version")
        torch = self.fact("torch", "version")
        parts = [
            self.fact("system", "os") or sys.platform,
            "py" + ".".join(str(python).split(".")[:2]) if python else "no python",
            f"torch {torch}" if torch else "no torch",
            self._accelerator(),
            f"via {self.via}" if self.via else "",
        ]
        return " · ".join(part for part in parts if part)

    def _accelerator(self) -> str:
        gpus = self.fact("gpus")
        if gpus:
            count = f"{len(gpus)}× " if len(gpus) > 1 else ""
            return f"{count}{gpus[0].get('name', 'GPU')}"
        others = self.fact("accelerators") or {}
        if others:
            return ", ".join(sorted(others))
        return "GPU unknown" if gpus is None else "no GPU"

    def as_dict(self) -> dict[str, Any]:
        """For `--json` and the journal."""
        return {"short": self.short(), "via": self.via, "facts": dict(self.facts), "unknown": dict(self.unknown)}


def fingerprint(
    surroundings: Surroundings | None = None, *, deep: bool = False, wanted: Iterable[str] = (), max_age: float = 0.0
) -> Fingerprint:
    """The fingerprint of the place that `surroundings` describe (default: here, now).

    `wanted` are ``module:NAME`` and ``command:NAME`` to look for; `max_age` in seconds allows a remembered answer; `deep` imports torch.
    Never raises for what the environment does: what can not be had is unknown.
    """
    surroundings = surroundings or surroundings_of()
    asked = ",".join(sorted(set(wanted)))
    key = _cache_key(surroundings, asked, deep)
    remembered = _recall(key, max_age) if max_age > 0 else None
    if remembered is not None:
        return Fingerprint(remembered["facts"], remembered["unknown"], surroundings.via)
    facts, unknown = _ask(surroundings, asked, deep)
    if facts:
        _remember(key, {"facts": facts, "unknown": unknown, "via": surroundings.via})
    return Fingerprint(facts, unknown, surroundings.via)


def remembered_fingerprint() -> Fingerprint | None:
    """This machine's newest fingerprint in the cache, whatever its age: for what `kb match` shows without starting anything."""
    own = [item for item in _stored().values() if not item.get("via")]
    newest = max(own, key=lambda item: float(item["when"]), default=None)
    return Fingerprint(newest["facts"], newest["unknown"]) if newest else None


def _ask(surroundings: Surroundings, asked: str, deep: bool) -> tuple[dict[str, Any], dict[str, str]]:
    from kbtool.verification.probe import CROWDED_SECONDS

    limit = DEEP_SECONDS if deep else PROBE_SECONDS
    probes = "" if not deep else ",".join([*_names(), "deep"])
    with with_python(surroundings.environment) as environment:
        python = find_python(environment)
        ours = python is None and not surroundings.via
        program = [sys.executable if ours else (python or "python3"), "-c", _source(), str(limit), probes, asked]
        if surroundings.via:
            program = _elsewhere(surroundings.via, program[1:])
        try:
            finished = run_command(program, environment=environment, timeout=limit + CROWDED_SECONDS + START_SECONDS, folder=surroundings.folder)
            answer = json.loads(finished.stdout.strip().splitlines()[-1])
        except (OSError, ValueError, IndexError):
            return {}, {"all": f"no answer from {program[0]}"}
    facts, unknown = dict(answer["facts"]), dict(answer["unknown"])
    if ours:
        facts.update(python=None, torch=None, packages=None)
        unknown["python"] = "there is no python on PATH"
    return facts, unknown


def _elsewhere(via: str, arguments: list[str]) -> list[str]:
    import shlex

    line = f"if command -v python >/dev/null 2>&1; then p=python; else p=python3; fi; exec $p {shlex.join(arguments)}"
    return shell_program(line, via) or ["/bin/sh", "-c", line]


def _source() -> str:
    return Path(__file__).with_name("probe.py").read_text(encoding="utf-8")


def _names() -> list[str]:
    return re.findall(r"^@probe\ndef (?!deep\b)(\w+)", _source(), re.MULTILINE)


def _cache_file() -> Path:
    return settings.cache_folder() / "environment.json"


def _cache_key(surroundings: Surroundings, asked: str, deep: bool) -> str:
    parts = [surroundings.via, surroundings.folder or "", asked, str(deep), json.dumps(dict(surroundings.environment), sort_keys=True)]
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _stored() -> dict[str, Any]:
    try:
        stored = json.loads(_cache_file().read_bytes())
        return {key: item for key, item in stored.items() if {"when", "facts", "unknown"} <= set(item)}
    except (OSError, ValueError, TypeError, AttributeError):
        return {}


def _recall(key: str, max_age: float) -> dict[str, Any] | None:
    item = _stored().get(key)
    return item if item is not None and 0 <= time.time() - item["when"] <= max_age else None


def _remember(key: str, answer: dict[str, Any]) -> None:
    stored = _stored()
    stored[key] = {"when": time.time(), **answer}
    newest = sorted(stored, key=lambda name: float(stored[name]["when"]), reverse=True)[:REMEMBERED]
    with contextlib.suppress(OSError):  # disposable: a read-only cache folder only costs time
        os.makedirs(settings.cache_folder(), exist_ok=True)
        write_atomically(_cache_file(), json.dumps({name: stored[name] for name in newest}).encode(), mode=0o600)


def foreign_packages(text: str, here: Fingerprint) -> str | None:
    """The site-packages folder of a traceback in `text` when it is none of those of the python that checks use; else None."""
    own = here.fact("python", "site") or []
    seen = _SITE.findall(text)
    if not seen or not own or any(path in own for path in seen):
        return None
    return str(seen[-1])

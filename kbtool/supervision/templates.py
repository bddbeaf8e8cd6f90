"""What healthy runs of a command print: remembered as templates, so that the same lines do not mislead when it fails one day.

A template is a line with its numbers masked; only digests are kept. Lines of a traceback's structure are never taken away.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from kbtool import settings
from kbtool.durable import write_atomically

TEMPLATES_KEPT = 4000
"""For one command."""

COMMANDS_KEPT = 200
SHORTEST = 8

_NUMBERS = re.compile(r"0x[0-9a-fA-F]+|\b[0-9a-f]{12,}\b|\d+(?:[.,:]\d+)*")
_STRUCTURE = re.compile(r"^\s|^Traceback \(most recent call last\)|^During handling|^The above exception|^[\w.]*(?:Error|Exception)\b")


def remember(command: Sequence[str], cwd: Path, output: str) -> None:
    """Keep the templates of a run that ended well, with those of earlier ones. Raises OSError."""
    place = _place(command, cwd)
    place.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    new = [template for line in dict.fromkeys(output.splitlines()) if (template := template_of(line))]
    kept = list(dict.fromkeys([*new, *_read(place)]))[:TEMPLATES_KEPT]
    write_atomically(place, json.dumps({"templates": kept}).encode(), mode=0o600)
    for old in sorted(place.parent.iterdir(), key=lambda path: -path.stat().st_mtime)[COMMANDS_KEPT:]:
        old.unlink(missing_ok=True)


def without_usual(command: Sequence[str], cwd: Path, output: str) -> str:
    """The output with the lines that healthy runs of the same command print left blank; every line keeps its number."""
    usual = set(_read(_place(command, cwd)))
    if not usual:
        return output
    return "\n".join("" if template_of(line) in usual else line for line in output.splitlines())


def template_of(line: str) -> str | None:
    """The digest of a line without its numbers; None for short lines and for those a traceback is made of."""
    line = line.rstrip()
    if len(line) < SHORTEST or _STRUCTURE.search(line):
        return None
    return hashlib.sha256(_NUMBERS.sub("#", line).encode("utf-8", "replace")).hexdigest()[:12]


def _place(command: Sequence[str], cwd: Path) -> Path:
    words: Iterable[str] = (str(cwd), *(_NUMBERS.sub("#", word) for word in command))
    return settings.state_folder() / "healthy" / f"{hashlib.sha256(chr(0).join(words).encode('utf-8', 'replace')).hexdigest()[:16]}.json"


def _read(place: Path) -> list[str]:
    try:
        return [str(template) for template in json.loads(place.read_bytes())["templates"]]
    except (OSError, ValueError, KeyError, TypeError):
        return []

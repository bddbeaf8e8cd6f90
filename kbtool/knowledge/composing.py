"""A new entry's text, made from its parts: what `kb add` and `kb import` write.

The parts come from logs, tables and people; whatever they hold, the text reads back as exactly these parts. A line of prose that would
open a section or a fence of its own is escaped; a symptom's fence is longer than any in it.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from kbtool.errors import KbError
from kbtool.knowledge import headings
from kbtool.knowledge.entry import parse_entry
from kbtool.knowledge.redaction import PLACEHOLDER
from kbtool.knowledge.schema import ID
from kbtool.knowledge.writing import fence_lines, yaml_scalar
from kbtool.model import DEFAULT_TIMEOUT, Entry, Status

NO_CAUSE = "Not known yet."
"""What stands under Root cause where nobody knows it."""

SLUG_WORDS = 9
SLUG_LENGTH = 56
"""An id made by kb is no longer than this: it has to be typed."""

RESERVED = frozenset(["con", "prn", "aux", "nul", *(f"{name}{number}" for name in ("com", "lpt") for number in range(1, 10))])
"""Names that are devices on Windows and no files."""

_FENCE = re.compile(r"\s{0,3}(`{3,}|~{3,})")
_STRUCTURE = re.compile(r"(\s{0,3})(#{1,6}(?:\s|$)|=+\s*$|-+\s*$|---)")
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_ESCAPE = re.compile(r"\x1b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|.)?")

SMALL_WORDS = frozenset("a an and are at be been but by can could did do does for from had has have in into is it its not of on or so that the their then there this to too was were when while will with without you".split())
"""Words that an id does without."""


@dataclass(frozen=True)
class Draft:
    """The parts of an entry to be; texts are Markdown, `check` is one line."""

    id: str
    domain: str
    title: str
    symptoms: tuple[str, ...]
    root_cause: str
    check: str | None = None
    language: str = "sh"
    confirms: str | None = None
    needs: tuple[str, ...] = ()
    timeout: float = DEFAULT_TIMEOUT
    fix: str = ""
    notes: str = ""
    tags: tuple[str, ...] = ()
    family: str | None = None
    applies_to: tuple[str, ...] = ()
    status: Status = Status.ACTIVE
    created: str | None = None


def compose(draft: Draft) -> str:
    """The Markdown text of an entry."""
    front = ["---", *_front_lines(draft), "---"]
    parts = ["\n".join(front), f"# {_one_line(draft.title)}"]
    fences = ["\n".join(fence_lines(clean(text))) for text in draft.symptoms]
    parts += [_heading(headings.SYMPTOM), *fences, _heading(headings.ROOT_CAUSE), prose(draft.root_cause)]
    if draft.check:
        parts += [_heading(headings.VERIFY), f"```{draft.language}\n{clean(draft.check).strip()}\n```"]
    if draft.fix.strip():
        parts += [_heading(headings.FIX), prose(draft.fix)]
    if draft.notes.strip():
        parts += [_heading(headings.NOTES), prose(draft.notes)]
    return "\n\n".join(parts) + "\n"


def compose_entry(draft: Draft, path: Path) -> tuple[str, Entry]:
    """The text and the entry that it is.

    Raises EntryError when it would be none, KbError when a part would be read as something else than it is.
    """
    text = compose(draft)
    entry = parse_entry(text.encode("utf-8", "replace"), path=path, domain=draft.domain)
    for name, given, found in (
        ("symptom", tuple(clean(symptom) for symptom in draft.symptoms), entry.symptoms),
        ("check", clean(draft.check or "").strip(), entry.check.command if entry.check else ""),
        ("root cause", prose(draft.root_cause), entry.root_cause),
    ):
        if given != found:
            raise KbError(f"the {name} can not be written so that it reads back as it is", hint="leave out unusual Markdown in it")
    return text, entry


def _front_lines(draft: Draft) -> list[str]:
    pairs: list[tuple[str, str | None]] = [
        ("tags", _list(draft.tags)),
        ("family", yaml_scalar(draft.family) if draft.family else None),
        ("confirms", yaml_scalar(draft.confirms) if draft.confirms else None),
        ("needs", _list(draft.needs)),
        ("timeout", f"{draft.timeout:g}s" if draft.timeout != DEFAULT_TIMEOUT else None),
        ("applies_to", _list(draft.applies_to)),
        ("status", draft.status.value),
        ("created", draft.created),
    ]
    return [f"{key}: {value}" for key, value in pairs if value]


def _list(items: Iterable[str]) -> str | None:
    written = [yaml_scalar(item) for item in items]
    return f"[{', '.join(written)}]" if written else None


def _heading(name: str) -> str:
    return f"## {headings.written_heading(name)}"


def _one_line(text: str) -> str:
    return " ".join(clean(text).split())


def clean(text: str) -> str:
    """`text` without escape sequences and control characters, line ends as ``\\n``, no blank lines at either end."""
    text = _CONTROL.sub("", _ESCAPE.sub("", text.replace("\r\n", "\n").replace("\r", "\n")))
    return "\n".join(line.rstrip() for line in text.split("\n")).strip("\n")


def prose(text: str) -> str:
    """`text` as Markdown below a heading: nothing in it opens a section, and every fence it opens is closed."""
    lines: list[str] = []
    open_fence: str | None = None
    for line in clean(text).strip().split("\n"):
        fence = _FENCE.match(line)
        if open_fence is None:
            if fence and not ("`" in fence.group(1) and "`" in line[fence.end() :]):
                open_fence = fence.group(1)
            elif _STRUCTURE.match(line):
                line = _STRUCTURE.sub(r"\1\\\2", line, count=1)
        elif fence and fence.group(1).startswith(open_fence) and not line[fence.end() :].strip():
            open_fence = None
        lines.append(line)
    return "\n".join([*lines, *([open_fence] if open_fence else [])])


def slug(text: str, *, fallback: str = "fault") -> str:
    """An id made of the telling words of `text`; `fallback` and a digest where it has none in Latin letters."""
    import hashlib

    text = PLACEHOLDER.sub(" ", text)
    ascii_text = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode("ascii")
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z][a-z])", " ", ascii_text)
    words = [word for word in re.findall(r"[a-z0-9]+", spaced.lower()) if word not in SMALL_WORDS]
    made = ""
    for word in words[:SLUG_WORDS]:
        if len(made) + len(word) + 1 > SLUG_LENGTH:
            break
        made = f"{made}-{word}" if made else word
    made = made.lstrip("-0123456789")
    if ID.fullmatch(made) and made not in RESERVED and sum(char.isalpha() for char in made) >= 3:
        return made
    return f"{fallback}-{hashlib.sha256(text.encode('utf-8', 'replace')).hexdigest()[:8]}"


def free_id(wanted: str, taken: Iterable[str], content: str) -> str:
    """`wanted`, or where that is taken the same with a digest of `content`: the same content always gets the same id."""
    import hashlib

    known = set(taken)
    if wanted not in known:
        return wanted
    return f"{wanted[:SLUG_LENGTH]}-{hashlib.sha256(content.encode('utf-8', 'replace')).hexdigest()[:6]}"



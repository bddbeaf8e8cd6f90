"""An entry file becomes an `Entry`, or a list of problems that says what is wrong and in which line."""

from __future__ import annotations

import difflib
import os
from dataclasses import dataclass, field
from pathlib import Path

from kbtool.knowledge import headings
from kbtool.knowledge.document import Document, Fence, Section, parse_document
from kbtool.knowledge.frontmatter import FrontMatterError
from kbtool.knowledge.outcomes import read_table
from kbtool.knowledge.plain_frontmatter import Value
from kbtool.knowledge.problems import ERROR, WARNING, EntryError, Problem
from kbtool.knowledge.schema import ID, KEYS, duration
from kbtool.model import DEFAULT_TIMEOUT, Check, Entry, Status

SIZE_LIMIT = 4 * 1024 * 1024
"""Bytes of an entry file; a larger one is no entry but something that strayed into the folder."""

LANGUAGES = {"sh": "sh", "bash": "sh", "shell": "sh", "console": "sh", "": "sh", "python": "python", "py": "python"}
"""What may stand after the fence of a check, and what it means."""


@dataclass
class Reading:
    """An entry being read: the problems met so far, and the entry when there is one."""

    path: Path
    problems: list[Problem] = field(default_factory=list)
    document: Document | None = None
    entry: Entry | None = None

    def error(self, line: int, message: str) -> None:
        """Note an error at 0-based `line`."""
        self.problems.append(Problem(self.path, line + 1, ERROR, message))

    def warning(self, line: int, message: str) -> None:
        """Note a warning at 0-based `line`."""
        self.problems.append(Problem(self.path, line + 1, WARNING, message))

    @property
    def usable(self) -> bool:
        """True when no error was met."""
        return not any(problem.level == ERROR for problem in self.problems)


def read_entry(path: Path, domain: str) -> Entry:
    """The entry in the file `path`; raises EntryError, or OSError as the system gives it."""
    return parse_entry(read_bytes(path), path=path, domain=domain)


def read_bytes(path: Path) -> bytes:
    """What a file of the base holds; of one that is too large for an entry no more than shows it."""
    with open(path, "rb", buffering=0) as file:
        return file.readall() if os.fstat(file.fileno()).st_size <= SIZE_LIMIT else file.read(SIZE_LIMIT + 1)


def parse_entry(data: bytes, *, path: Path, domain: str) -> Entry:
    """The entry in `data`; `path` gives its id and its place in messages. Raises EntryError with every problem found."""
    reading = examine(data, path=path, domain=domain)
    if reading.entry is None:
        raise EntryError(reading.problems)
    return reading.entry


def examine(data: bytes, *, path: Path, domain: str) -> Reading:
    """Read `data` as far as it goes, with all problems; never raises for what a file may contain."""
    reading = Reading(path)
    reading.document = _document(data, reading)
    if reading.document is None:
        return reading
    if not ID.fullmatch(path.stem):
        reading.error(0, f"`{path.stem}` is no id: lower-case letters, digits and hyphens, 3 to 80 of them, a letter first")
    values = _front_values(reading.document, reading)
    entry = _entry(reading.document, values, reading, domain)
    reading.entry = entry if reading.usable else None
    return reading


def _document(data: bytes, reading: Reading) -> Document | None:
    if len(data) > SIZE_LIMIT:
        reading.error(0, f"larger than {SIZE_LIMIT // 1024 // 1024} MiB, too large for an entry")
        return None
    if b"\0" in data:
        reading.error(data[: data.index(b"\0")].count(b"\n"), "holds a NUL byte; this is not a text file")
        return None
    try:
        return parse_document(data)
    except FrontMatterError as error:
        reading.error(error.line, error.message)
    except UnicodeDecodeError as error:
        reading.error(data[: error.start].count(b"\n"), f"is not UTF-8 (byte 0x{data[error.start]:02x})")
    except RecursionError:
        reading.error(0, "is nested too deeply")
    return None


def _front_values(document: Document, reading: Reading) -> dict[str, str | list[str]]:
    if document.front is None:
        reading.warning(0, "has no front matter; `status: active` is assumed")
        return {}
    values: dict[str, str | list[str]] = {}
    for name, value in document.front.values.items():
        checked = _front_value(name, value, reading)
        if checked is not None:
            values[name] = checked
    return values


def _front_value(name: str, value: Value, reading: Reading) -> str | list[str] | None:
    key = KEYS.get(name)
    line = value.line + 1
    if key is None:
        near = difflib.get_close_matches(name, KEYS, n=1, cutoff=0.6)
        reading.warning(line, f"unknown key `{name}`" + (f"; did you mean `{near[0]}`?" if near else ""))
        return None
    if value.value is None or (isinstance(value.value, list) and not key.is_list):
        reading.error(line, f"`{name}` must be {'a list' if key.is_list else 'one value'}")
        return None
    items = value.value if isinstance(value.value, list) else [value.value]
    for item in items:
        try:
            key.check(item)
        except ValueError as error:
            reading.error(line, f"{name}: {error}")
            return None
    if key.is_list and not isinstance(value.value, list):
        return [value.value] if value.value else []
    return value.value


def _entry(document: Document, values: dict[str, str | list[str]], reading: Reading, domain: str) -> Entry:
    if document.title is None or not document.title:
        reading.error(document.body, "has no title: one line `# What goes wrong: why`")
    _warn_repeated(document, reading)
    outcomes = document.section(headings.OUTCOMES)
    guard = document.section(headings.GUARD)
    return Entry(
        id=reading.path.stem,
        domain=domain,
        path=reading.path,
        title=document.title or "",
        symptoms=_symptoms(document, reading),
        root_cause=_required_text(document, headings.ROOT_CAUSE, reading),
        check=_check(document, values, reading),
        fix=_text(document, headings.FIX, reading),
        not_this=tuple(fence.text for fence in _fences(document, headings.NOT_THIS)),
        tags=_strings(values, "tags"),
        family=_string(values, "family"),
        applies_to=_strings(values, "applies_to"),
        status=Status(_string(values, "status") or Status.ACTIVE.value),
        created=_string(values, "created"),
        outcomes=tuple(row for table in (outcomes.tables if outcomes else ()) for row in read_table(table)),
        guard=document.text_of(guard) if guard else None,
    )


def _warn_repeated(document: Document, reading: Reading) -> None:
    seen: set[str] = set()
    for section in document.sections:
        if section.name and section.name in seen:
            reading.warning(section.line, f"a second `{section.heading}` section; only the first one counts")
        seen.add(section.name or "")


def _fences(document: Document, name: str) -> tuple[Fence, ...]:
    section = document.section(name)
    return section.fences if section else ()


def _symptoms(document: Document, reading: Reading) -> tuple[str, ...]:
    section = document.section(headings.SYMPTOM)
    if section is None:
        reading.error(max(document.title_line, 0), "has no `## Symptom` section")
        return ()
    texts = tuple(fence.text for fence in section.fences if fence.text.strip())
    if not texts:
        reading.error(section.line, "Symptom holds no fenced text: what did the program print?")
    return texts


def _required_text(document: Document, name: str, reading: Reading) -> str:
    section = document.section(name)
    text = document.text_of(section) if section else ""
    if not text:
        where = section.line if section else max(document.title_line, 0)
        reading.error(where, f"has no `## {headings.written_heading(name)}` text")
    return text


def _text(document: Document, name: str, reading: Reading) -> str:
    section = document.section(name)
    text = document.text_of(section) if section else ""
    if not text:
        reading.warning(section.line if section else 0, f"has no `## {headings.written_heading(name)}`")
    return text


def _check(document: Document, values: dict[str, str | list[str]], reading: Reading) -> Check | None:
    section = document.section(headings.VERIFY)
    if section is None:
        reading.warning(0, "has no `## Verify`: nothing decides whether this cause is present")
        return None
    command = _command(section, reading)
    if command is None:
        return None
    text, language = command
    confirms = _string(values, "confirms")
    timeout = _string(values, "timeout")
    return Check(text, language, confirms, _strings(values, "needs"), duration(timeout) if timeout else DEFAULT_TIMEOUT)


def _command(section: Section, reading: Reading) -> tuple[str, str] | None:
    if len(section.fences) != 1:
        reading.error(section.line, f"Verify holds {len(section.fences)} fences; it must be exactly one, with one line")
        return None
    fence = section.fences[0]
    lines = [line for line in fence.text.split("\n") if line.strip()]
    if len(lines) != 1:
        reading.error(fence.start, f"the check has {len(lines)} lines; it must be exactly one")
        return None
    if fence.language not in LANGUAGES:
        reading.error(fence.start, f"`{fence.language}` is no language of a check: `sh` or `python`")
        return None
    return lines[0].strip(), LANGUAGES[fence.language]


def _strings(values: dict[str, str | list[str]], name: str) -> tuple[str, ...]:
    value = values.get(name, [])
    return tuple(value) if isinstance(value, list) else (value,)


def _string(values: dict[str, str | list[str]], name: str) -> str | None:
    value = values.get(name)
    return value if isinstance(value, str) and value else None

"""The only writer into a base: it splices the lines it owns and leaves every other byte as it was.

Each change runs look, lock, look again: under the base's lock the file is read afresh, the lines are spliced into what is there now,
the result is parsed and compared with what was meant, and the new bytes replace the old ones atomically. If somebody saved the file
between that reading and the replacement, the change is made once more on their version; it is refused when the check that ran is no
longer the check that stands there. A refusal leaves the file as it was.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from kbtool.durable import locked, sweep_leftovers, write_atomically
from kbtool.errors import KbError, RefusedError
from kbtool.knowledge import headings
from kbtool.knowledge.document import Document, Section, parse_document
from kbtool.knowledge.entry import parse_entry
from kbtool.knowledge.layers import DOMAIN_PAGE, Base, is_entry_name
from kbtool.knowledge.outcomes import format_header, format_row, outcome_table, read_row
from kbtool.knowledge.problems import EntryError
from kbtool.knowledge.schema import ID, KEYS
from kbtool.model import Entry, Outcome

ATTEMPTS = 8
"""How often a change is made again because somebody saved the file meanwhile."""

Edit = Callable[[Document, Entry], "list[Splice]"]


class Splice:
    """Replace the lines `start` to `end` (0-based, `end` excluded) by `lines`, given without line endings."""

    def __init__(self, start: int, end: int, lines: list[str]):
        self.start, self.end, self.lines = start, end, lines


class _ChangedMeanwhileError(Exception):
    """Somebody saved the file between our reading and our replacing."""


def append_outcome(path: Path, outcome: Outcome, *, expect_check: str, folds_into: Callable[[Outcome], bool] | None = None) -> Entry:
    """Add one row to the Outcomes table of the entry at `path`; the section is made at the end of the file if it is missing.

    `expect_check` is the digest of the check that ran. `folds_into` may recognise a row as one that this outcome only adds to
    (another rank of the same job): then the newest such row's count grows instead. Returns the entry as it now is.

    Raises RefusedError when the file's check is not `expect_check` or when the row can not be added without changing what is there,
    EntryError when the file is broken, OSError when it can not be written.
    """

    def edit(document: Document, entry: Entry) -> list[Splice]:
        found = entry.check.digest if entry.check else "none"
        if found != expect_check:
            raise RefusedError(
                f"{path}: the check changed since it ran (ran {expect_check}, now {found}); the outcome was not recorded",
                hint=f"run `kb verify {entry.id}` again",
            )
        return _outcome_splices(document, outcome, folds_into)

    return change_entry(path, edit, _only_outcomes_differ)


def _outcome_splices(document: Document, outcome: Outcome, folds_into: Callable[[Outcome], bool] | None) -> list[Splice]:
    table = outcome_table(document)
    if table is None:
        return [_new_table(document, document.section(headings.OUTCOMES), outcome)]
    for row in reversed(table.rows):
        written = read_row(row)
        if folds_into is not None and written is not None and written.verdict is outcome.verdict and folds_into(written):
            return [Splice(row.line, row.line + 1, [format_row(written._replace(count=written.count + outcome.count))])]
    return [Splice(table.end, table.end, [format_row(outcome)])]


def _new_table(document: Document, section: Section | None, outcome: Outcome) -> Splice:
    rows = [*format_header(), format_row(outcome)]
    if section is None:
        return Splice(len(document.lines), len(document.lines), ["", f"## {headings.written_heading(headings.OUTCOMES)}", "", *rows])
    at = end_of_text(document, section.line + 1, section.end)
    return Splice(at, at, ["", *rows])


def end_of_text(document: Document, start: int, end: int) -> int:
    """The line after the last one that is not blank between `start` and `end`."""
    while end > start and not document.lines[end - 1].strip():
        end -= 1
    return end


def _only_outcomes_differ(before: Entry, after: Entry) -> bool:
    kept = after.outcomes[: len(before.outcomes)] == before.outcomes and len(after.outcomes) == len(before.outcomes) + 1
    return (kept or _one_count_grew(before, after)) and after._replace(outcomes=()) == before._replace(outcomes=())


def _one_count_grew(before: Entry, after: Entry) -> bool:
    pairs = [(old, new) for old, new in zip(before.outcomes, after.outcomes, strict=False) if old != new]
    return len(before.outcomes) == len(after.outcomes) and len(pairs) == 1 and pairs[0][1]._replace(count=pairs[0][0].count) == pairs[0][0]


def add_fence(path: Path, section_name: str, text: str) -> Entry:
    """Add `text` as one more fence to the section `headings.SYMPTOM` or `headings.NOT_THIS` of the entry at `path`.

    A missing section is made after the Symptom section. Returns the entry as it now is. Raises as `append_outcome` does.
    """
    body = text.replace("\r\n", "\n").replace("\r", "\n").strip("\n")
    if not body.strip():
        raise KbError("there is no text to add")
    fence = fence_lines(body)

    def edit(document: Document, entry: Entry) -> list[Splice]:
        section = document.section(section_name)
        if section is not None:
            at = max((fence.end for fence in section.fences), default=end_of_text(document, section.line + 1, section.end))
            return [Splice(at, at, ["", *fence])]
        symptom = document.section(headings.SYMPTOM)
        at = end_of_text(document, symptom.line + 1, symptom.end) if symptom else len(document.lines)
        return [Splice(at, at, ["", f"## {headings.written_heading(section_name)}", "", *fence])]

    def meant(before: Entry, after: Entry) -> bool:
        if section_name == headings.NOT_THIS:
            return after == before._replace(not_this=after.not_this) and after.not_this[-1:] == (body,)
        return after == before._replace(symptoms=after.symptoms) and after.symptoms == (*before.symptoms, body)

    return change_entry(path, edit, meant)


def fence_lines(body: str) -> list[str]:
    """A text fence around `body`, longer than any fence in it."""
    longest = max((len(run) for run in re.findall(r"`{3,}", body)), default=2)
    marks = "`" * (longest + 1)
    return [f"{marks}text", *body.split("\n"), marks]


def set_value(path: Path, key: str, value: str | None) -> Entry:
    """Set one front-matter scalar of the entry at `path`, or remove it (None); the other keys keep their spelling and order.

    Raises KbError for an unknown key or a value it may not hold; else as `append_outcome` does.
    """
    if key not in KEYS or KEYS[key].is_list:
        raise KbError(f"`{key}` is no single-valued key of an entry")
    if value is not None:
        try:
            KEYS[key].check(value)
        except ValueError as error:
            raise KbError(f"{key}: {error}") from None
    return change_entry(path, lambda document, _: _value_splices(document, key, value), lambda before, after: True)


def _value_splices(document: Document, key: str, value: str | None) -> list[Splice]:
    line = [f"{key}: {yaml_scalar(value)}"] if value is not None else []
    if document.front is None:
        return [Splice(0, 0, ["---", *line, "---", ""])]
    old = document.front.values.get(key)
    if old is None:
        return [Splice(document.body - 1, document.body - 1, line)]
    text = document.front.text
    first = old.line + 1
    last = first + text.count("\n", old.start, max(old.start, old.end - 1))
    comment = re.search(r"\s+#[^\n]*", text[old.end :].split("\n", 1)[0]) if "\n" not in text[old.start : old.end] else None
    if line and comment:
        line = [line[0] + comment.group().rstrip("\r")]
    return [Splice(first, last + 1, line)]


_PLAIN_SCALAR = re.compile(r"[A-Za-z0-9_./][A-Za-z0-9_./+ -]*")


def yaml_scalar(value: str) -> str:
    """`value` as YAML writes it on one line: plain where that is unambiguous, else double-quoted."""
    if _PLAIN_SCALAR.fullmatch(value) and not value.endswith(" "):
        return value
    import json

    return json.dumps(value, ensure_ascii=False)


def change_entry(path: Path, edit: Edit, meant: Callable[[Entry, Entry], bool]) -> Entry:
    """Apply the splices that `edit` gives for the file as it is now; `meant` says whether the result is what was wanted.

    Returns the entry as it now is. Raises RefusedError when it is not, or when the file keeps changing; the file then is as it was.
    """
    with _base_lock(path):
        for _ in range(ATTEMPTS):
            try:
                return _change_once(path, edit, meant)
            except _ChangedMeanwhileError:
                continue
    raise RefusedError(f"{path}: somebody else keeps writing this file; nothing was changed", hint="run the command again")


@contextmanager
def _base_lock(path: Path) -> Iterator[None]:
    """The lock of the base that `path` belongs to: the folder above the domain's. What killed writers left is swept away under it."""
    with locked(path.parent.parent):
        sweep_leftovers(path.parent)  # nobody is in the middle of writing now, whatever a file server's clock makes of the files' age
        yield


def _change_once(path: Path, edit: Edit, meant: Callable[[Entry, Entry], bool]) -> Entry:
    data, seen = _read(path)
    domain = path.parent.name
    before = parse_entry(data, path=path, domain=domain)
    document = parse_document(data)
    changed = spliced(document, edit(document, before))
    if changed == data:
        return before
    try:
        after = parse_entry(changed, path=path, domain=domain)
    except EntryError:
        after = None
    if after is None or not meant(before, after):
        raise RefusedError(
            f"{path}: the change does not fit into this file (an unclosed fence or comment before it?); nothing was changed",
            hint=f"`kb lint {path}` may show what is in the way",
        )

    def still_the_same() -> None:
        if _stamp(os.stat(path)) != seen:
            raise _ChangedMeanwhileError

    write_atomically(path, changed, before_replace=still_the_same)
    return after


def _read(path: Path) -> tuple[bytes, tuple[int, ...]]:
    with open(path, "rb") as file:
        stamp = _stamp(os.fstat(file.fileno()))
        return file.read(), stamp


def _stamp(status: os.stat_result) -> tuple[int, ...]:
    return (status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)


def spliced(document: Document, splices: list[Splice]) -> bytes:
    """The document's bytes with the splices made; new lines take the file's line ending, a missing last one stays missing."""
    lines = list(document.lines)
    newline = document.newline
    for splice in sorted(splices, key=lambda splice: splice.start, reverse=True):
        new = [line.encode("utf-8") + newline for line in splice.lines]
        if splice.end == len(lines) and lines and not lines[-1].endswith((b"\n", b"\r")):
            new = _keep_missing_newline(lines, splice, new, newline)
        lines[splice.start : splice.end] = new
    return b"".join(lines)


def _keep_missing_newline(lines: list[bytes], splice: Splice, new: list[bytes], newline: bytes) -> list[bytes]:
    if not new:
        return new
    new[-1] = new[-1].removesuffix(newline)
    if splice.start == len(lines):
        new[0] = newline + new[0]
    return new


def create_entry(base: Base, domain: str, entry_id: str, text: str) -> Path:
    """Write a new entry into `base`; the domain's folder is made if it is missing. Returns the file's path.

    Raises KbError when the id or domain is no plain name, the id exists in the base, or the place lies outside the base; EntryError
    when `text` is no entry. Nothing is written then.
    """
    if not ID.fullmatch(entry_id):
        raise KbError(f"`{entry_id[:100]}` is no id: lower-case letters, digits and hyphens, 3 to 80 of them, a letter first")
    if not ID.fullmatch(domain):
        raise KbError(f"`{domain[:100]}` is no domain: lower-case letters, digits and hyphens")
    path = base.root / domain / f"{entry_id}.md"
    data = text.encode("utf-8")
    parse_entry(data, path=path, domain=domain)
    base.root.mkdir(parents=True, exist_ok=True)
    with locked(base.root):
        _refuse_taken(base, path)
        path.parent.mkdir(exist_ok=True)
        if os.path.realpath(path.parent) != os.path.join(os.path.realpath(base.root), domain):
            raise KbError(f"{path.parent}: leads outside the base; nothing was written")
        write_atomically(path, data)
    return path


def _refuse_taken(base: Base, path: Path) -> None:
    for folder in base.root.iterdir():
        taken = folder / path.name
        if is_entry_name(path.name) and os.path.lexists(taken):
            raise KbError(f"{taken}: the id `{path.stem}` is taken", hint=f"`kb show {path.stem}` shows it; choose another id with --id")


def copy_to(base: Base, entry: Entry) -> Path:
    """Copy a shipped entry's file into a writable base, so that it can be changed there; an existing copy is left alone."""
    path = base.root / entry.domain / entry.path.name
    if path.exists():
        return path
    created = create_entry(base, entry.domain, entry.id, entry.path.read_text(encoding="utf-8"))
    _copy_page(entry.path.parent / DOMAIN_PAGE, base.root / entry.domain / DOMAIN_PAGE)
    return created


def _copy_page(page: Path, target: Path) -> None:
    """A base is known by its domain pages: the first copied entry of a domain brings its page along."""
    if page.is_file() and not target.exists():
        write_atomically(target, page.read_bytes())

"""Rows of a table become entries: planned first, so that a person sees what would be made, then written.

The same row always becomes the same entry, so a second import changes nothing. Nothing is dropped: a row whose check is none becomes a
draft that says why, and a row that can not be an entry at all is listed with its line.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from kbtool.errors import KbError
from kbtool.knowledge.checks import parse_confirms, parse_need
from kbtool.knowledge.checktext import CheckText, read_check
from kbtool.knowledge.composing import NO_CAUSE, Draft, clean, compose_entry, free_id, slug
from kbtool.knowledge.entry import parse_entry
from kbtool.knowledge.keywords import locate_domain
from kbtool.knowledge.layers import Base
from kbtool.knowledge.problems import EntryError
from kbtool.knowledge.schema import ID, today
from kbtool.knowledge.tables import CAUSE, FIX, SYMPTOM, VERIFY, Row
from kbtool.knowledge.writing import create_entry
from kbtool.model import Domain, Entry, Status, first_sentence

NO_DOMAIN = "unsorted"
"""Domain of a row that no keyword, column or heading places."""

TITLE_LENGTH = 100


class Fate(str, Enum):
    """What becomes of a row."""

    NEW = "new"
    DRAFT = "draft"
    KNOWN = "known"
    REFUSED = "refused"


@dataclass(frozen=True)
class Item:
    """A row and what becomes of it; `reason` says why it is a draft or refused, or which entry it is known as."""

    line: int
    fate: Fate
    id: str | None
    domain: str | None
    title: str
    reason: str = ""
    text: str = ""


def plan_import(rows: Iterable[Row], existing: Sequence[Entry], domains: Sequence[Domain], *, domain: str | None = None, keep: Callable[[str], str] = str) -> list[Item]:
    """What each row becomes, without writing. `keep` redacts the texts; `domain` is for rows that say none."""
    known = {_identity(entry.symptoms, entry.pattern): entry.id for entry in existing}
    taken = {entry.id for entry in existing}
    items: list[Item] = []
    for row in rows:
        item, identity = _plan(row, known, taken, domains, domain, keep)
        items.append(item)
        if item.fate in (Fate.NEW, Fate.DRAFT) and item.id:
            taken.add(item.id)
            known.setdefault(identity, item.id)
    return items


def apply_import(items: Iterable[Item], base: Base) -> list[Path]:
    """Write the new entries and drafts; returns their files."""
    return [create_entry(base, item.domain or NO_DOMAIN, item.id, item.text) for item in items if item.fate in (Fate.NEW, Fate.DRAFT) and item.id]


def _identity(symptoms: Sequence[str], pattern: str) -> str:
    """What makes two rows the same fault: the same phenomenon with the same cause, whatever blanks and code marks stand in them."""
    return "\0".join(re.sub(r"[`\s\\]+", " ", text).strip().casefold() for text in (symptoms[0] if symptoms else "", pattern))


def _plan(row: Row, known: Mapping[str, str], taken: set[str], domains: Sequence[Domain], domain: str | None, keep: Callable[[str], str]) -> tuple[Item, str]:
    title = _title(row)
    try:
        if row.problem:
            raise KbError(row.problem)
        if row.text is not None:
            return _whole_file(row, known, taken)
        return _from_parts(row, title, known, taken, domains, domain, keep)
    except EntryError as error:
        return Item(row.line, Fate.REFUSED, None, None, title, error.problems[0].message if error.problems else error.message), ""
    except KbError as error:
        return Item(row.line, Fate.REFUSED, None, None, title, error.message), ""


def _title(row: Row) -> str:
    given = row.parts.get("title") or row.parts.get(SYMPTOM, "").split("\0")[0]
    lines = [line.strip().strip("`") for line in clean(given).split("\n") if line.strip()]
    shown = lines[-1] if lines and not row.parts.get("title") else lines[0] if lines else ""
    return shown if len(shown) <= TITLE_LENGTH else shown[: TITLE_LENGTH - 1] + "…"


def _whole_file(row: Row, known: Mapping[str, str], taken: set[str]) -> tuple[Item, str]:
    """A row that carries its file: written as it is, under its own id and domain."""
    entry_id, domain = row.parts.get("id", ""), row.parts.get("domain", "")
    if not ID.fullmatch(entry_id) or not ID.fullmatch(domain):
        raise KbError("has a text but no valid `id` and `domain`")
    entry = parse_entry((row.text or "").encode("utf-8", "replace"), path=Path(f"{entry_id}.md"), domain=domain)
    identity = _identity(entry.symptoms, entry.pattern)
    if entry_id in taken or identity in known:
        return Item(row.line, Fate.KNOWN, known.get(identity, entry_id), domain, entry.title), identity
    fate = Fate.DRAFT if entry.status is Status.DRAFT else Fate.NEW
    return Item(row.line, fate, entry_id, domain, entry.title, text=row.text or ""), identity


def _from_parts(row: Row, title: str, known: Mapping[str, str], taken: set[str], domains: Sequence[Domain], domain: str | None, keep: Callable[[str], str]) -> tuple[Item, str]:
    parts = {name: keep(value) for name, value in row.parts.items()}
    symptoms = tuple(text for text in (_uncoded(text) for text in parts.get(SYMPTOM, "").split("\0")) if text)
    if not symptoms:
        raise KbError("has no phenomenon")
    cause = _paragraphs(parts.get(CAUSE, "")) or NO_CAUSE
    identity = _identity(symptoms, first_sentence(cause))
    if identity in known:
        return Item(row.line, Fate.KNOWN, known[identity], None, title), identity
    check = _check(parts)
    problems = [problem for problem in ("there is no root cause" if cause == NO_CAUSE else None, check.problem) if problem]
    status = Status.DRAFT if problems or parts.get("status") == Status.DRAFT.value else Status.ACTIVE
    if parts.get("status") == Status.RETIRED.value:
        status = Status.RETIRED
    place = _domain(parts, symptoms, domains, domain)
    draft = Draft(
        id=_id(parts, keep(title), symptoms, identity, taken),
        domain=place,
        title=keep(title),
        symptoms=symptoms,
        root_cause=cause,
        check=None if check.problem else check.command,
        language=check.language,
        confirms=check.confirms,
        needs=check.needs,
        fix=_fix(parts, check),
        notes=_notes(row, check, keep),
        tags=_items(parts.get("tags", "")),
        family=parts.get("family") or None,
        applies_to=_items(parts.get("applies_to", "")),
        status=status,
        created=_created(parts),
    )
    text, _ = compose_entry(draft, Path(f"{draft.id}.md"))
    fate = Fate.DRAFT if draft.status is Status.DRAFT else Fate.NEW
    return Item(row.line, fate, draft.id, place, draft.title, "; ".join(problems), text), identity


def _uncoded(text: str) -> str:
    """A symptom as the program printed it: breaks are lines, and a code span or fence around it is the table's."""
    text = re.sub(r"<br\s*/?>", "\n", text, flags=re.IGNORECASE)
    fenced = re.fullmatch(r"\s*(`{3,})[\w+-]*[ \t]*\n?(.*?)\s*\1\s*", text, re.DOTALL)
    if fenced:
        return clean(fenced.group(2))
    return clean(re.sub(r"(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)", lambda span: span.group(2).strip(), text))


def _paragraphs(text: str) -> str:
    return clean(re.sub(r"\s*<br\s*/?>\s*", "\n\n", text, flags=re.IGNORECASE)).strip()


def _check(parts: Mapping[str, str]) -> CheckText:
    written = parts.get(VERIFY, "")
    if parts.get("language") == "python" and "```" not in written:
        written = f"```python\n{written}\n```"
    read = read_check(written)
    confirms = parts.get("confirms") or read.confirms
    needs = tuple(dict.fromkeys((*_items(parts.get("needs", "")), *read.needs)))
    problem = read.problem or _grammar_problem(confirms, needs)
    return CheckText(read.command, read.language, confirms if not problem else None, needs if not problem else (), problem, read.is_fix)


def _grammar_problem(confirms: str | None, needs: Sequence[str]) -> str | None:
    try:
        if confirms:
            parse_confirms(confirms)
        for need in needs:
            parse_need(need)
    except ValueError as error:
        return str(error)
    return None


def _items(text: str) -> tuple[str, ...]:
    return tuple(item.strip() for item in re.split(r"[,;、，]", text.strip("[] ")) if item.strip())


def _domain(parts: Mapping[str, str], symptoms: Sequence[str], domains: Sequence[Domain], default: str | None) -> str:
    names = {domain.name for domain in domains}
    for written in (parts.get("domain", ""), parts.get("section", "")):
        name = slug(written, fallback="") if written else ""
        if name in names or (written and written == parts.get("domain") and ID.fullmatch(name)):
            return name
    if default:
        return default
    text = "\n".join([*symptoms, parts.get(CAUSE, "")])
    found = locate_domain(symptoms[0], domains) or locate_domain(text, domains)
    return found.name if found else NO_DOMAIN


def _id(parts: Mapping[str, str], title: str, symptoms: Sequence[str], identity: str, taken: set[str]) -> str:
    wanted = parts.get("id", "")
    if not ID.fullmatch(wanted):
        wanted = slug(title or symptoms[0])
    return free_id(wanted, taken, identity)


def _fix(parts: Mapping[str, str], check: CheckText) -> str:
    fix = _paragraphs(parts.get(FIX, ""))
    if not check.is_fix:
        return fix
    command = f"```sh\n{check.command}\n```"
    return f"{fix}\n\n{command}" if fix else command


def _notes(row: Row, check: CheckText, keep: Callable[[str], str]) -> str:
    lines = [f"{heading}: {keep(_paragraphs(value))}" for heading, value in row.extra.items()]
    if check.problem and check.command and not check.is_fix:
        lines.append(f"Written where the check should stand ({check.problem}):\n\n```text\n{check.command}\n```")
    return "\n\n".join(lines)


def _created(parts: Mapping[str, str]) -> str:
    try:
        return datetime.date.fromisoformat(parts.get("created", "")).isoformat()
    except ValueError:
        return today().isoformat()


def item_json(item: Item) -> dict[str, object]:
    """An item for programs, without its text."""
    return {"line": item.line, "fate": item.fate.value, "id": item.id, "domain": item.domain, "title": item.title, "reason": item.reason}

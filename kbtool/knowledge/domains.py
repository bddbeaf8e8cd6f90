"""Domain pages: the decision table (keywords), the first action, the smallest check, and when to go back."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from kbtool.knowledge import headings
from kbtool.knowledge.document import Document, parse_document
from kbtool.knowledge.frontmatter import FrontMatterError
from kbtool.knowledge.layers import DOMAIN_PAGE, Base, domain_folders
from kbtool.knowledge.problems import ERROR, WARNING, EntryError, Problem
from kbtool.model import Domain


def parse_domain(data: bytes, *, path: Path) -> Domain:
    """The domain page in `data`; its folder's name is the domain. Raises EntryError."""
    try:
        document = parse_document(data)
    except FrontMatterError as error:
        raise EntryError([Problem(path, error.line + 1, ERROR, error.message)]) from None
    except UnicodeDecodeError:
        raise EntryError([Problem(path, 1, ERROR, "is not UTF-8")]) from None
    minimal = document.section(headings.MINIMAL_CHECK)
    return Domain(
        name=path.parent.name,
        keywords=_keywords(document),
        first_action=_text(document, headings.FIRST_ACTION),
        minimal_check=minimal.fences[0].text if minimal and minimal.fences else "",
        go_back_when=_text(document, headings.GO_BACK_WHEN),
        path=path,
    )


def _keywords(document: Document) -> tuple[str, ...]:
    value = document.front.values.get("keywords") if document.front else None
    if value is None or value.value is None:
        return ()
    items = value.value if isinstance(value.value, list) else [value.value]
    return tuple(item for item in items if item.strip())


def _text(document: Document, name: str) -> str:
    section = document.section(name)
    return document.text_of(section) if section else ""


def domain_problems(data: bytes, *, path: Path) -> list[Problem]:
    """What lint says of a domain page."""
    try:
        domain = parse_domain(data, path=path)
    except EntryError as error:
        return error.problems
    problems = []
    if not domain.first_action:
        problems.append(Problem(path, 1, WARNING, "has no `## First action`: nothing to answer where no entry matches"))
    if len(domain.minimal_check.splitlines()) > 3:
        problems.append(Problem(path, 1, WARNING, "the minimal check has more than three lines"))
    return problems


def read_domains(bases: Iterable[Base]) -> list[Domain]:
    """The domain pages of all layers, the top one winning for a name; unreadable pages are left out (lint names them)."""
    found: dict[str, Domain] = {}
    for base in bases:
        for name in domain_folders(base.root):
            path = base.root / name / DOMAIN_PAGE
            if name not in found:
                try:
                    found[name] = parse_domain(path.read_bytes(), path=path)
                except (OSError, EntryError):
                    continue
    return [found[name] for name in sorted(found)]

"""Docs are held to the program: tables, commands and links are right to the letter."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from kbtool.cli.app import COMMANDS
from kbtool.knowledge.checks import CONFIRMS_FORMS, PLAIN_NEEDS
from kbtool.knowledge.schema import KEYS

ROOT = Path(__file__).resolve().parent.parent
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")])


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    """Every relative link of a page names a file that exists."""
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    targets = [target.split("#")[0] for target in re.findall(r"\]\(([^)\s]+)\)", text) if "://" not in target]

    assert [target for target in targets if target and not (page.parent / target).exists()] == []


def test_the_front_matter_table_is_the_schema() -> None:
    """docs/format.md lists exactly the keys of the schema, with the same meaning."""
    text = (ROOT / "docs" / "format.md").read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| `(\w+)` \| (.+) \|$", text, flags=re.MULTILINE))

    assert list(rows) == list(KEYS)
    assert all(rows[name].startswith(key.meaning) for name, key in KEYS.items() if name != "status")


def test_every_condition_and_need_is_documented() -> None:
    """docs/format.md names every form of `confirms` and every need."""
    text = (ROOT / "docs" / "format.md").read_text(encoding="utf-8")

    assert [form for form in CONFIRMS_FORMS if f"`{form}`" not in text] == []
    assert [need for need in PLAIN_NEEDS if f"`{need}`" not in text] == []


def test_every_command_is_in_the_readme() -> None:
    """The README's table of commands is the program's."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    named = set(re.findall(r"^\| `kb ([a-z-]+)", text, flags=re.MULTILINE))

    assert named == {name for name, line in COMMANDS.items() if line}


def test_documents_speak_of_the_project_only() -> None:
    """No page or program carries a path of the machine it was written on."""
    files = [*PAGES, *ROOT.glob("kbtool/**/*.py"), *ROOT.glob("entries/**/*.md"), *ROOT.glob("examples/*"), *ROOT.glob("tests/transcripts/*")]
    found = [f"{file.name}: {match}" for file in files for match in re.findall(r"/(?:work|root)/\S*", file.read_text(encoding="utf-8", errors="replace"))]

    assert found == []

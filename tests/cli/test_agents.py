"""The page for coding agents, walked through as it is written, by a program without a terminal."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from kbtool.cli.app import COMMANDS
from kbtool.journal.journal import journal_path, open_journal
from tests.conftest import Kb, build_base

ROOT = Path(__file__).resolve().parent.parent.parent
PAGE = (ROOT / "AGENTS.md").read_text(encoding="utf-8")
DETAILS = (ROOT / "docs" / "agents.md").read_text(encoding="utf-8")
EXAMPLE = re.findall(r"```json\n(.*?)```", DETAILS, flags=re.DOTALL)[0]

LOG = "Traceback (most recent call last):\nOSError: [Errno 28] No space left on device\n"


def test_the_page_is_short() -> None:
    """What an agent has to read fits in thirty lines."""
    assert len(PAGE.splitlines()) <= 30


@pytest.mark.parametrize("page", [PAGE, DETAILS], ids=["AGENTS.md", "docs/agents.md"])
def test_every_command_and_flag_of_the_page_exists(page: str, kb: Kb) -> None:
    """No command line of the page names a verb or an option that kb does not have."""
    for verb, rest in set(re.findall(r"(?:`|\$ |\| )kb ([a-z-]+)([^`\n|]*)", page)):
        if verb in ("knows",):
            continue
        assert verb in COMMANDS, verb
        flags = re.findall(r"--[a-z][a-z-]*", rest.split(" -- ")[0])
        helped = kb(verb, "--help").stdout if flags else ""
        assert [flag for flag in flags if flag not in helped] == [], verb


def test_a_known_failure(kb: Kb, base: Path) -> None:
    """Match, verify, the refusal that leads to the person, the person's permission, the verdict, the fix."""
    matched = kb("match", "--json", input=LOG, entries=base)
    answer = json.loads(matched.stdout)
    assert (matched.returncode, answer["schema"]) == (0, 1)
    best = answer["matches"][0]
    assert best["confidence"] in ("strong", "possible")

    refused = kb("verify", best["id"], "--json", entries=base)
    assert refused.returncode == 2
    assert f"kb allow {best['id']}" in refused.stderr
    assert best["verify"] in refused.stderr

    assert kb("allow", best["id"], entries=base).returncode == 0  # what the person does
    verified = kb("verify", best["id"], "--json", entries=base)
    assert verified.returncode == 0
    assert json.loads(verified.stdout)[0]["verdict"] == "confirmed"
    assert best["fix"] == "Move the cache."


def test_two_refutations_stop_the_guessing(kb: Kb, tmp_path: Path, make_entry: Callable[..., str]) -> None:
    """After two refuted checks the triage tells the agent to stop."""
    root = build_base(tmp_path / "base" / "entries", {f"data/{name}": make_entry(title=name, symptom=f"RuntimeError: data failure {name}", verify="false") for name in ("first-one", "second-one")})
    kb("match", "--json", input="RuntimeError: data failure\n", entries=root)
    kb("triage", "--json", "--condition", "always", entries=root)
    for name in ("first-one", "second-one"):
        kb("allow", name, entries=root)
        assert kb("verify", name, "--json", entries=root).returncode == 1

    state = json.loads(kb("triage", "--json", entries=root).stdout)

    assert state["stop"] is True
    assert "anchor" in state["next"]


def test_the_example_of_the_page_can_be_added(kb: Kb, base: Path) -> None:
    """The JSON of the page makes an entry that lint accepts, match finds, and nobody runs unasked."""
    done = kb("add", "--json", input=EXAMPLE, entries=base)

    answer = json.loads(done.stdout)
    assert (done.returncode, answer["problems"], answer["outcome"]) == (0, [], None)
    assert kb("lint", answer["id"], entries=base).returncode == 0 or kb("lint", entries=base).returncode == 0
    found = json.loads(kb("match", "--json", input=json.loads(EXAMPLE)["symptom"] + "\n", entries=base).stdout)
    assert found["matches"][0]["id"] == answer["id"]
    assert kb("verify", answer["id"], "--json", entries=base).returncode == 2


def test_the_journal_page_names_every_table_and_its_questions_run(kb: Kb, base: Path) -> None:
    """docs/journal.md lists the tables there are, and its SQL is answered."""
    page = (ROOT / "docs" / "journal.md").read_text(encoding="utf-8")
    with open_journal():
        pass
    connection = sqlite3.connect(journal_path())
    tables = {name for (name,) in connection.execute("select name from sqlite_master where type = 'table'")}

    assert set(re.findall(r"^\| `(\w+)` \|", page, flags=re.MULTILINE)) == tables
    for question in re.findall(r"```sql\n(.*?)```", page, flags=re.DOTALL)[0].strip().splitlines():
        connection.execute(question).fetchall()
    connection.close()

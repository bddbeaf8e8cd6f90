"""New entries: whatever the parts hold, they read back as they were."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kbtool.errors import KbError
from kbtool.knowledge.composing import Draft, clean, compose, compose_entry, free_id, prose, slug
from kbtool.knowledge.entry import parse_entry
from kbtool.knowledge.schema import ID
from kbtool.model import Status

NASTY = st.text(alphabet=st.sampled_from("ab `~#-=|\\\n\t>*:'\"\x1b[]0é显{}<!&;1."), min_size=1, max_size=60)


def draft(**parts: object) -> Draft:
    """A draft with the given parts."""
    given_parts = {"id": "some-fault", "domain": "data", "title": "A fault", "symptoms": ("ValueError: x",), "root_cause": "It is so.", "check": "true", **parts}
    return Draft(**given_parts)  # type: ignore[arg-type]


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(symptom=NASTY, cause=NASTY, fix=NASTY)
def test_any_text_reads_back(symptom: str, cause: str, fix: str) -> None:
    """Symptom and prose of any shape are read back as they are, or refused: never as something else."""
    made = draft(symptoms=(symptom,), root_cause=cause, fix=fix)
    try:
        text, entry = compose_entry(made, Path("some-fault.md"))
    except KbError:
        return
    assert entry.symptoms == (clean(symptom),)
    assert entry.root_cause == prose(cause)
    assert entry.check is not None
    assert entry.check.command == "true"
    assert parse_entry(text.encode(), path=Path("some-fault.md"), domain="data") == entry


def test_headings_and_fences_in_prose_stay_prose() -> None:
    """A root cause that holds a heading or an open fence does not swallow the check."""
    text = compose(draft(root_cause="# Really\n\n## Verify\n\n```sh\nrm -rf /", fix="Title\n====="))
    entry = parse_entry(text.encode(), path=Path("some-fault.md"), domain="data")

    assert entry.check is not None
    assert entry.check.command == "true"
    assert "rm -rf" in entry.root_cause


def test_every_part_is_written() -> None:
    """Lists, status, condition, timeout and date come back from the file."""
    made = draft(
        confirms="stdout contains a: b", needs=("linux", "command:df"), timeout=3.0, tags=("a", "b c"), family="shared memory", applies_to=("torch>=2.1",), status=Status.DRAFT, created="2026-11-30", notes="N"
    )
    _, entry = compose_entry(made, Path("some-fault.md"))

    assert entry.check is not None
    assert (entry.check.confirms, entry.check.needs, entry.check.timeout) == ("stdout contains a: b", ("linux", "command:df"), 3.0)
    assert (entry.tags, entry.family, entry.applies_to, entry.status, entry.created) == (("a", "b c"), "shared memory", ("torch>=2.1",), Status.DRAFT, "2026-11-30")


def test_escape_sequences_never_reach_a_file() -> None:
    """Colours and control characters of a log are left out."""
    assert "\x1b" not in compose(draft(symptoms=("\x1b[31mred\x1b[0m \x07bell\x00",), root_cause="a\x1b]0;t\x07b"))


@pytest.mark.parametrize(
    ("text", "made"),
    [
        ("CUDA error: device-side assert", "cuda-error-device-side-assert"),
        ("ValueError: Expected more than 1 value per channel", "value-error-expected-more-than-1-value-per-channel"),
        ("Erreur à l'accès", "erreur-l-acces"),
        ("../../etc/passwd", "etc-passwd"),
    ],
)
def test_ids_are_made_of_telling_words(text: str, made: str) -> None:
    """An id says what it is about, and is a plain file name."""
    assert slug(text) == made


@pytest.mark.parametrize("text", ["显存不足", "", "1 2 3", "…", "a", "x" * 300])
def test_any_text_gives_a_valid_id(text: str) -> None:
    """Where no words are left, a digest makes the id, the same one each time."""
    assert ID.fullmatch(slug(text))
    assert slug(text) == slug(text)


def test_a_taken_id_gets_a_digest_of_its_content() -> None:
    """The same content always gets the same id, so that importing twice makes nothing new."""
    assert free_id("a-fault", [], "c") == "a-fault"
    assert free_id("a-fault", ["a-fault"], "c") == free_id("a-fault", ["a-fault"], "c") != free_id("a-fault", ["a-fault"], "d")

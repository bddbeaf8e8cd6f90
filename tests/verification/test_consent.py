"""Permission: for this check at this place, lost by any edit of it, denied for good, never read from a repository."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path

import pytest

from kbtool import settings
from kbtool.errors import KbError
from kbtool.model import Check
from kbtool.verification.consent import Consent, Permission, Request

CHECK = Check("df -k /dev/shm | tail -1", confirms="stdout < 1048576", needs=("linux", "command:df"), timeout=10.0)


def request(path: Path, check: Check = CHECK, via: str = "") -> Request:
    """What is asked for an entry at `path`."""
    return Request("some-fault", path, check, via)


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """An entry's file in a base `proj/entries`."""
    path = tmp_path / "proj" / "entries" / "data" / "some-fault.md"
    path.parent.mkdir(parents=True)
    path.write_text("---\n---\n")
    return path


COMMAND_EDITS = [CHECK.command[:at] + "x" + CHECK.command[at + 1 :] for at in range(len(CHECK.command)) if CHECK.command[at] != "x"]
EDITS = [
    *({"command": command} for command in COMMAND_EDITS),
    {"command": CHECK.command + " "},
    {"command": CHECK.command + "\u200b"},
    {"language": "python"},
    *({"confirms": text} for text in ("stdout < 1048577", "stdout <= 1048576", "stdout > 1048576", "stdout < 104857", "Stdout < 1048576", "exit zero", None)),
    *({"needs": needs} for needs in (("linux",), ("linux", "command:d"), ("command:df", "linux"), ())),
    *({"timeout": seconds} for seconds in (1.0, 100.0, 10.5)),
]


@pytest.mark.parametrize("edit", EDITS, ids=str)
def test_any_edit_of_the_check_asks_again(edit: dict[str, object], place: Path) -> None:
    """One changed character in command, confirms, needs or timeout is another check, which nobody allowed."""
    consent = Consent()
    consent.allow(request(place))

    assert consent.permission(request(place, CHECK._replace(**edit))) is Permission.UNKNOWN  # type: ignore[arg-type]
    assert consent.permission(request(place)) is Permission.ALLOWED


def test_there_are_thirty_edits() -> None:
    """The proof counts at least thirty."""
    assert len(EDITS) >= 28 + 2


def elsewhere(place: Path) -> dict[str, Path]:
    """Other ways to spell, reach or imitate the allowed file."""
    root = place.parents[3]
    found = {
        "a longer neighbour": root / "proj-evil" / "entries" / "data" / place.name,
        "a neighbour reached upward": root / "proj" / ".." / "proj-evil" / "entries" / "data" / place.name,
        "another domain": place.parent.parent / "model" / place.name,
        "another name": place.with_name("some-fault2.md"),
        "another case": place.with_name("Some-Fault.md"),
        "another case of the base": root / "PROJ" / "entries" / "data" / place.name,
        "a copy inside": place.parent.parent / "entries" / "data" / place.name,
        "a parent": root / "entries" / "data" / place.name,
    }
    for path in found.values():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(place.read_bytes())
    link = root / "linked.md"
    link.symlink_to(place)
    (root / "linked-base").symlink_to(place.parent.parent)
    (root / "linked-domain").symlink_to(place.parent)
    found["a link to the file"] = link
    found["a link to the base"] = root / "linked-base" / "data" / place.name
    found["a link to the domain"] = root / "linked-domain" / place.name
    moved = root / "moved" / "data" / place.name
    moved.parent.mkdir(parents=True)
    os.link(place, moved)
    found["a hard link"] = moved
    return found


def test_permission_holds_at_its_place_only(place: Path) -> None:
    """Twelve neighbours, links and spellings of an allowed file are not allowed."""
    consent = Consent()
    consent.allow(request(place))
    others = elsewhere(place)

    assert {name: consent.permission(request(path)) for name, path in others.items()} == dict.fromkeys(others, Permission.UNKNOWN)
    assert len(others) == 12


def test_a_link_that_is_turned_elsewhere_is_not_allowed(tmp_path: Path, place: Path) -> None:
    """What was allowed behind a link is not allowed when the link leads to another file."""
    link = tmp_path / "link.md"
    link.symlink_to(place)
    consent = Consent()
    consent.allow(request(link))
    other = tmp_path / "other.md"
    other.write_text("")
    link.unlink()
    link.symlink_to(other)

    assert consent.permission(request(link)) is Permission.UNKNOWN


def test_a_denial_wins_and_survives_every_edit(place: Path) -> None:
    """Denied is denied, whatever was allowed and whatever the check becomes, until it is lifted; then it asks again."""
    consent = Consent()
    consent.allow(request(place))
    consent.deny("some-fault", place)

    for edit in EDITS:
        assert consent.permission(request(place, CHECK._replace(**edit))) is Permission.DENIED  # type: ignore[arg-type]
    assert consent.permission(request(place)) is Permission.DENIED
    with pytest.raises(KbError, match="denied"):
        consent.allow(request(place))

    assert consent.undo_denial(place)
    assert consent.permission(request(place, CHECK._replace(timeout=11.0))) is Permission.UNKNOWN


def test_a_denial_is_found_behind_a_link(tmp_path: Path, place: Path) -> None:
    """A denied file stays denied when it is reached by another path."""
    link = tmp_path / "link.md"
    link.symlink_to(place)
    consent = Consent()
    consent.deny("some-fault", place)

    assert consent.permission(request(link)) is Permission.DENIED


def test_each_prefix_is_a_permission_of_its_own(place: Path) -> None:
    """What may run here may not run behind `docker exec`, and the other way round."""
    consent = Consent()
    consent.allow(request(place, via="docker exec C"))

    assert consent.permission(request(place)) is Permission.UNKNOWN
    assert consent.permission(request(place, via="docker exec D")) is Permission.UNKNOWN
    assert consent.permission(request(place, via="docker exec C")) is Permission.ALLOWED


def test_what_is_remembered_can_be_read_by_its_owner_only(place: Path) -> None:
    """The store holds readable files, 0600 in folders 0700, below the state folder."""
    consent = Consent()
    written = [consent.allow(request(place)), consent.deny("other-fault", place.with_name("other-fault.md"))]

    for path in written:
        assert settings.state_folder() in path.parents
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert json.loads(written[0].read_text())["check"]["command"] == CHECK.command
    assert [item["id"] for item in consent.recorded()] == ["some-fault", "other-fault"]


@pytest.mark.parametrize("tampering", ["another command", "another place", "no JSON", "empty", "a folder", "a link", "writable by all"])
def test_a_doubtful_file_allows_nothing(tampering: str, place: Path, tmp_path: Path) -> None:
    """A stored file that is not plainly what kb wrote is no permission."""
    consent = Consent()
    path = consent.allow(request(place))
    content = json.loads(path.read_text())
    if tampering == "another command":
        content["check"]["command"] += " "
        path.write_text(json.dumps(content))
    elif tampering == "another place":
        content["check"]["place"][0] += "x"
        path.write_text(json.dumps(content))
    elif tampering in ("no JSON", "empty"):
        path.write_text("allowed" if tampering == "no JSON" else "")
    elif tampering == "writable by all":
        path.chmod(0o666)
    else:
        kept = path.rename(tmp_path / "kept")
        path.mkdir() if tampering == "a folder" else path.symlink_to(kept)

    assert consent.permission(request(place)) is Permission.UNKNOWN


def test_a_state_folder_that_can_not_be_written_is_said(place: Path, tmp_path: Path) -> None:
    """Permission that can not be kept is an error with its path, not a silent yes."""
    blocked = tmp_path / "file"
    blocked.write_text("")

    with pytest.raises(KbError, match="could not be written"):
        Consent(blocked / "consent").allow(request(place))

"""Which bases are used: chosen, project, user, shipped, and who wins."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from kbtool import settings
from kbtool.errors import KbError
from kbtool.knowledge import layers
from tests.conftest import build_base


@pytest.fixture
def project(tmp_path: Path, make_entry: Callable[..., str], monkeypatch: pytest.MonkeyPatch) -> Path:
    root = build_base(tmp_path / "project" / "entries", {"data/disk-full": make_entry(title="of the project")})
    (tmp_path / "project" / "src" / "deep").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "project" / "src" / "deep")
    return root


def test_the_nearest_base_upward_then_user_then_shipped(project: Path, make_entry: Callable[..., str]) -> None:
    """Layers are found from the working directory upward, then in the user's data folder, then in the package."""
    build_base(settings.user_entries(), {"data/disk-full": make_entry(title="of the user"), "data/own-fault": make_entry()})
    bases = layers.find_layers()

    assert [base.kind for base in bases] == ["project", "user", "shipped"]
    assert bases[0].root == project
    assert not bases[2].writable
    assert layers.locate("disk-full")[1].path == project / "data" / "disk-full.md"
    assert layers.locate("own-fault")[0].kind == "user"
    assert layers.all_entry_files(bases)["disk-full"].path == project / "data" / "disk-full.md"


def test_a_folder_without_a_domain_page_is_no_base(project: Path) -> None:
    """An `entries` folder of another program is passed over."""
    (project / "data" / "README.md").unlink()

    assert [base.kind for base in layers.find_layers()] == ["shipped"]


def test_a_chosen_base_is_the_only_one(project: Path, tmp_path: Path, make_entry: Callable[..., str], monkeypatch: pytest.MonkeyPatch) -> None:
    """`$KB_ENTRIES` names the only base, whatever lies around."""
    chosen = build_base(tmp_path / "chosen", {"data/another-fault": make_entry()})
    monkeypatch.setenv("KB_ENTRIES", str(chosen))

    assert [(base.root, base.kind) for base in layers.find_layers()] == [(chosen, "chosen")]


@pytest.mark.parametrize(("name", "message"), [("missing", "no such folder"), ("file", "is a file")])
def test_a_chosen_base_that_is_none(name: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A chosen base that can not be one is an error that names it."""
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("KB_ENTRIES", str(tmp_path / name))

    with pytest.raises(KbError, match=message):
        layers.find_layers()


def test_links_are_not_followed(project: Path, tmp_path: Path, make_entry: Callable[..., str]) -> None:
    """A symbolic link inside a base leads nowhere: a clone can not bring in files from elsewhere."""
    outside = tmp_path / "secret.md"
    outside.write_text(make_entry())
    (project / "data" / "linked-entry.md").symlink_to(outside)
    (project / "model").symlink_to(tmp_path)

    assert list(layers.all_entry_files([layers.Base(project, "project", True)])) == ["disk-full"]
    with pytest.raises(KbError):
        layers.locate("linked-entry", [layers.Base(project, "project", True)])


def test_an_unknown_id_names_the_nearest(project: Path) -> None:
    """A misspelt id is answered with the one that was meant."""
    with pytest.raises(KbError) as caught:
        layers.locate("disk-ful")

    assert "`disk-full`" in (caught.value.hint or "")


def test_writable_layer_without_any(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where no layer can be written, the user's own base is offered, though it may not exist yet."""
    monkeypatch.chdir(tmp_path)

    assert layers.writable_layer().root == settings.user_entries()

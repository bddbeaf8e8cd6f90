"""The picture of the layers, held against every module's imports."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "kbtool"

LAYERS = ("cli", "supervision", "review", "verification", "matching", "journal", "knowledge")
"""Top to bottom; the modules below them all are the foundation."""

FOUNDATION = ("model", "errors", "durable", "settings", "patterns", "quantities")
ENTRANCES = ("__init__", "__main__", "postmortem", "pytest_plugin")
"""Modules at the top that a program starts from; they may import everything."""

MODULES = sorted(path for path in PACKAGE.rglob("*.py") if "entries" not in path.parts)


def floor(module: str) -> int:
    """How high a module lives: 0 for the foundation, the cli highest."""
    parts = module.split(".")
    room = parts[1] if len(parts) > 1 else "__init__"
    if room in LAYERS:
        return len(LAYERS) - LAYERS.index(room)
    return len(LAYERS) + 1 if room in ENTRANCES else 0


def name_of(path: Path) -> str:
    """The dotted name of a module's file."""
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def imports_of(path: Path) -> set[str]:
    """Every kbtool module that a file imports, also inside functions."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            found.update(f"{node.module}.{alias.name}" if node.module == "kbtool" else node.module for alias in node.names)
    return {name for name in found if name.split(".")[0] == "kbtool" and name not in ("kbtool", "kbtool.__version__")}


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_imports_point_down(path: Path) -> None:
    """A module imports from its own layer and the layers below it only."""
    here = name_of(path)
    upward = sorted(name for name in imports_of(path) if floor(name) > floor(here) and name != here)

    assert upward == [], f"{here} reaches up"


@pytest.mark.parametrize("path", [path for path in MODULES if "cli" not in path.parts], ids=name_of)
def test_only_the_cli_prints_and_exits(path: Path) -> None:
    """No module outside `kbtool.cli` prints, prompts or exits, save the ones that are programs of their own."""
    if path.stem in ENTRANCES or "injected" in path.parts or path.stem == "sitecustomize":
        pytest.skip("is a program of its own")
    calls = {
        node.func.id
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    }

    assert set() == calls & {"print", "input", "exit", "quit"}


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_modules_stay_readable(path: Path) -> None:
    """A module has one idea: it opens with a docstring and stays below 350 lines."""
    text = path.read_text(encoding="utf-8")

    assert ast.get_docstring(ast.parse(text)) is not None
    assert len(text.splitlines()) <= 350


def test_no_drawers() -> None:
    """No module is a drawer for what has no room."""
    assert not [path for path in MODULES if path.stem in {"utils", "util", "helpers", "common", "manager", "misc"}]

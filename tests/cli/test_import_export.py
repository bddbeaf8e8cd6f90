"""`kb import` and `kb export`: the three-column table in both directions."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import Kb, build_base

THREE_ROWS = r"""# Faults we met

## data

| Failure phenomenon | Root-cause pattern | Verify command |
| --- | --- | --- |
| `CUDA error: device-side assert` | The input tensor holds illegal values (a label beyond num_classes) | `assert (labels >= 0).all() and (labels < num_classes).all()` |
| `ValueError: Expected more than 1 value per channel` | BatchNorm with batch size 1 | `print(f"Batch size: {x.shape[0]}")` |
| `OSError: [Errno 24] Too many open files` | ulimit -n too low, loader handles used up | `ulimit -n 65536` |
"""

CHINESE = THREE_ROWS.replace("Failure phenomenon", "故障现象").replace("Root-cause pattern", "根因模式").replace("Verify command", "验证命令")

DIFFICULT = r"""| Error | Cause | Check | Owner |
|---|---|---|---|
| a `x \| y` failed | escaped pipe | `cat /proc/meminfo \| grep Mem` | Li |
| b `x | y` failed | pipe in a code span | `ls / | wc -l` | |
| c failed<br>on two lines | ```text<br>fenced<br>``` | ```sh<br>df -k /tmp<br>``` | |
| d failed | a sentence | Look at the batch size by hand | |
| e failed | nothing to check | | |
| f failed | x | ls | Bo | too many |

Some text.

| 故障现象 | 根因模式 |
| :-- | --: |
| 显存不足 | 批次过大 |

| not | ours |
|---|---|
| 1 | 2 |
"""


@pytest.fixture
def empty(tmp_path: Path) -> Path:
    """A base with a domain page and no entries."""
    root = build_base(tmp_path / "base" / "entries", {"data/first": "x"})
    (root / "data" / "first.md").unlink()
    return root


def entry_texts(root: Path) -> dict[str, str]:
    """Text of every entry file of a base, by id."""
    return {path.stem: path.read_text(encoding="utf-8") for path in sorted(root.glob("*/*.md")) if path.name != "README.md"}


@pytest.mark.parametrize("table", [THREE_ROWS, CHINESE], ids=["english", "chinese"])
def test_three_rows_of_a_real_table(kb: Kb, empty: Path, tmp_path: Path, table: str) -> None:
    """An assertion becomes an expression that confirms when false, a print one to be judged, and a fix is noticed as a fix."""
    file = tmp_path / "table.md"
    file.write_text(table, encoding="utf-8")

    done = kb("import", file, "--json", entries=empty)

    items = json.loads(done.stdout)["items"]
    assert [item["fate"] for item in items] == ["new", "new", "draft"]
    assert "fix" in items[2]["reason"]
    assert {item["domain"] for item in items} == {"data"}
    first, second, third = (entry_texts(empty)[item["id"]] for item in items)
    assert "confirms: false" in first
    assert "```python\n(labels >= 0).all() and (labels < num_classes).all()\n```" in first
    assert "```python\nx.shape[0]\n```" in second
    assert "confirms" not in second
    assert "## Verify" not in third
    assert "status: draft" in third
    assert "ulimit -n 65536" in third.split("## Fix")[1]
    assert kb("lint", entries=empty).returncode == 0


def test_importing_twice_changes_nothing(kb: Kb, empty: Path, tmp_path: Path) -> None:
    """A second import finds every row known and leaves every byte as it was."""
    file = tmp_path / "table.md"
    file.write_text(THREE_ROWS + "\n" + DIFFICULT, encoding="utf-8")
    kb("import", file, entries=empty)
    before = entry_texts(empty)

    again = json.loads(kb("import", file, "--json", entries=empty).stdout)["items"]

    assert {item["fate"] for item in again} == {"known", "refused"}
    assert entry_texts(empty) == before


def test_a_dry_run_shows_and_writes_nothing(kb: Kb, empty: Path) -> None:
    """What would be made is listed with its line, and the base stays empty."""
    done = kb("import", "-", "--dry-run", input=THREE_ROWS, entries=empty)

    assert done.returncode == 0
    assert "line 7: would be made: data/cuda-error-device-side-assert" in done.stdout
    assert "line 9: would be a draft" in done.stdout
    assert "nothing was written" in done.stderr
    assert entry_texts(empty) == {}


def test_difficult_cells(kb: Kb, empty: Path) -> None:
    """Escaped and bare pipes, fences, breaks, sentences, extra columns, several tables: nothing is dropped silently."""
    done = kb("import", "-", "--json", "--domain", "data", input=DIFFICULT, entries=empty)

    items = json.loads(done.stdout)["items"]
    assert [item["fate"] for item in items] == ["new", "new", "new", "draft", "draft", "refused", "draft"]
    assert done.returncode == 2
    texts = entry_texts(empty)
    escaped, spanned, fenced, sentence, unchecked = (texts[item["id"]] for item in items[:5])
    assert "a x | y failed" in escaped
    assert "cat /proc/meminfo | grep Mem" in escaped
    assert "Owner: Li" in escaped
    assert "ls / | wc -l" in spanned
    assert "```text\nc failed\non two lines\n```" in fenced
    assert "```sh\ndf -k /tmp\n```" in fenced
    assert "Look at the batch size by hand" in sentence
    assert "## Verify" not in sentence + unchecked
    assert "line 8" not in done.stdout
    assert items[5]["line"] == 8
    assert "more cells" in items[5]["reason"]


def test_secrets_of_a_table_stay_out_of_the_base(kb: Kb, empty: Path) -> None:
    """What is imported is redacted, unless the person says otherwise."""
    table = "| Error | Cause | Check |\n|---|---|---|\n| login of bob@example.com failed | password=hunter2 was wrong | ls |\n"

    kb("import", "-", "--domain", "data", input=table, entries=empty)
    redacted = "".join(entry_texts(empty).values())
    kb("import", "-", "--domain", "data", "--no-redact", input=table, entries=empty)
    brave = "".join(entry_texts(empty).values())

    assert "bob@" not in redacted
    assert "hunter2" not in redacted
    assert "hunter2" in brave


@pytest.mark.parametrize(
    ("content", "said"),
    [("no table here", "holds no table"), ("", "holds no table"), ("| a | b |\n|---|---|\n| 1 | 2 |\n", "holds no table"), (b"| \xff |", "not UTF-8")],
)
def test_a_file_without_a_table_is_refused(kb: Kb, empty: Path, content: str | bytes, said: str) -> None:
    """A file that holds no table of faults is an error that names the columns."""
    done = kb("import", "-", input=content, entries=empty)

    assert done.returncode == 2
    assert said in done.stderr
    assert "phenomenon" in done.stderr


def test_json_lines_restore_every_byte(kb: Kb, base: Path, tmp_path: Path, make_entry: Callable[..., str]) -> None:
    """An export as JSON lines, imported elsewhere, gives the same files."""
    (base / "data" / "second.md").write_text(make_entry(title="Second: 显存", symptom="RuntimeError: other").replace("\n", "\r\n") + "\r\n## Mine\r\n\r\nkept", encoding="utf-8", newline="")
    exported = kb("export", "--format", "jsonl", entries=base).stdout
    other = build_base(tmp_path / "other", {"data/x-x": "x"})
    (other / "data" / "x-x.md").unlink()

    done = kb("import", "-", input=exported, entries=other)

    assert done.returncode == 0, done.stderr
    assert {path.name: path.read_bytes() for path in (other / "data").iterdir()} == {path.name: path.read_bytes() for path in (base / "data").iterdir()}


def test_csv_comes_back_as_the_same_entries(kb: Kb, base: Path, tmp_path: Path) -> None:
    """An export as CSV, imported elsewhere, gives entries with the same parts, and the same CSV again."""
    kb("import", "-", input=THREE_ROWS, entries=base)
    exported = kb("export", "--format", "csv", entries=base).stdout
    file = tmp_path / "faults.csv"
    file.write_bytes(exported.encode("utf-8"))
    other = build_base(tmp_path / "other", {"data/x-x": "x"})
    (other / "data" / "x-x.md").unlink()

    assert kb("import", file, entries=other).returncode == 0
    assert kb("export", "--format", "csv", entries=other).stdout == exported


def test_the_exported_table_imports_as_known(kb: Kb, base: Path) -> None:
    """The three-column table has the fields' usual headings and escapes pipes; its own rows are known when read back."""
    kb("import", "-", input=THREE_ROWS, entries=base)
    exported = kb("export", entries=base).stdout

    assert exported.startswith("| Failure phenomenon | Root-cause pattern | Verify command |\n| --- | --- | --- |\n")
    assert "`assert (labels >= 0).all() and (labels < num_classes).all()`" in exported
    assert {item["fate"] for item in json.loads(kb("import", "-", "--json", input=exported, entries=base).stdout)["items"]} == {"known"}
    assert kb("export", "--chinese", entries=base).stdout.startswith("| 故障现象 | 根因模式 | 验证命令 |")


def test_export_of_an_unknown_id_names_the_nearest(kb: Kb, base: Path) -> None:
    """A misspelt id is an error with a suggestion."""
    done = kb("export", "disc-full", entries=base)

    assert done.returncode == 2
    assert "`disk-full`" in done.stderr


@pytest.mark.parametrize(("domain", "said"), [("datta", "there is no domain `datta`; did you mean `data`?"), ("Da ta", "is no domain's name")])
def test_a_mistyped_domain_is_refused(domain: str, said: str, kb: Kb, empty: Path) -> None:
    """A slip in `--domain` imports nothing, nor does a dry run say that it would."""
    table = "| Failure phenomenon | Root-cause pattern | Verify command |\n|---|---|---|\n| `ValueError: flux` | It is not charged. | `test -e /nowhere` |\n"

    for flags in ([], ["--dry-run"]):
        done = kb("import", "-", "--domain", domain, *flags, input=table, entries=empty)
        assert done.returncode == 2 and said in done.stderr
    assert [path.name for path in empty.rglob("*.md")] == ["README.md"]

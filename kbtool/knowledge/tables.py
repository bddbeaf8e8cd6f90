"""The three-column table, phenomenon | root-cause pattern | verify command, read from Markdown, CSV and JSON lines.

Every format gives the same rows: named parts of an entry, and columns of the author's own, which become notes. The words that name a
column are a table here, in the languages people use; the first one of each is what kb writes.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from kbtool.knowledge import headings
from kbtool.knowledge.document import Document, Table, parse_document
from kbtool.knowledge.frontmatter import FrontMatterError

SYMPTOM, CAUSE, VERIFY, FIX = headings.SYMPTOM, headings.ROOT_CAUSE, headings.VERIFY, headings.FIX

COLUMNS: dict[str, tuple[str, ...]] = {
    SYMPTOM: ("Failure phenomenon", "Phenomenon", "Error message", "Error", "Problem", "故障现象", "故障", "错误信息", "报错", *headings.HEADINGS[SYMPTOM]),
    CAUSE: ("Root-cause pattern", "Root cause pattern", "Reason", "根因模式", "根因分析", *headings.HEADINGS[CAUSE], "root_cause", "pattern"),
    VERIFY: ("Verify command", "Verification command", "Verification", "Check command", "Command", "验证命令", "验证方法", "检查命令", *headings.HEADINGS[VERIFY]),
    FIX: ("Fix", "Workaround", "Resolution", "修复方法", "解决办法", *headings.HEADINGS[FIX]),
    "title": ("Title", "标题", "タイトル", "Titel"),
    "id": ("Id", "编号"),
    "domain": ("Domain", "领域", "域", "分類"),
    "tags": ("Tags", "标签"),
    "family": ("Family", "类别"),
    "confirms": ("Confirms", "确认条件"),
    "needs": ("Needs", "前提"),
    "applies_to": ("Applies to", "applies_to", "适用版本"),
    "status": ("Status", "状态"),
    "created": ("Created", "创建日期"),
}
"""Part of an entry, and the headings of the columns that hold it."""

_UNESCAPED_PIPE = re.compile(r"(?<!\\)\|")
_CODE = re.compile(r"(`+)(?!`).*?(?<!`)\1(?!`)")


@dataclass(frozen=True)
class Row:
    """One row: `parts` by their names in `COLUMNS`, further columns in `extra`; `line` is 1-based; `problem` says why it can not be read."""

    line: int
    parts: dict[str, str]
    extra: dict[str, str] = field(default_factory=dict)
    text: str | None = None
    """The whole entry file, where the format carries it."""
    problem: str | None = None


def _plain(heading: str) -> str:
    return re.sub(r"[\s_-]+", " ", heading.strip("*_` :：\ufeff")).casefold()


_BY_HEADING = {_plain(word): name for name, words in COLUMNS.items() for word in words}


def column_of(heading: str) -> str | None:
    """The part of an entry that a column's heading means, or None for one of the author's own."""
    return _BY_HEADING.get(_plain(heading))


def read_rows(data: bytes, name: str) -> list[Row]:
    """The rows of a file; its form is told by its name's ending, else by its first character.

    Raises ValueError when the bytes are not UTF-8 or hold no table with a phenomenon column.
    """
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError(f"is not UTF-8 (byte 0x{data[error.start]:02x} in line {data[: error.start].count(bytes([10])) + 1})") from None
    ending = name.lower().rsplit(".", 1)[-1]
    first = text.lstrip()[:1]
    if ending in ("jsonl", "ndjson", "json") or (ending not in ("md", "csv", "tsv", "markdown") and first in ("{", "[")):
        return _json_rows(text)
    if ending in ("csv", "tsv"):
        return _csv_rows(text, "\t" if ending == "tsv" else ",")
    rows = list(_markdown_rows(text))
    if not rows:
        raise ValueError("holds no table with a column for the phenomenon and one for its cause or its check")
    return rows


def _markdown_rows(text: str) -> Iterator[Row]:
    document = _document(text)
    for table in sorted((table for table in document.tables), key=lambda table: table.start):
        columns = [column_of(heading) for heading in table.header]
        if SYMPTOM not in columns or not {CAUSE, VERIFY} & set(columns):
            continue
        under = _heading_above(document.source, table.start)
        for row in table.rows:
            cells = _cells(document.source[row.line], len(columns))
            if cells is None:
                yield Row(row.line - 1, {}, problem="the row has more cells than the table has columns; escape a pipe in a cell as `\\|`")
            else:
                yield _row(row.line - 1, table.header, cells, {"section": under} if under else {})


@dataclass(frozen=True)
class _Page:
    source: list[str]
    tables: tuple[Table, ...]


def _document(text: str) -> _Page:
    """The tables of a page; a heading put before it lets those above its first heading count too."""
    normalised = text.replace("\r\n", "\n").replace("\r", "\n")
    try:
        parsed = parse_document(("## \n\n" + normalised).encode("utf-8"))
    except FrontMatterError as error:  # pragma: no cover - the first line is no front matter
        raise ValueError(error.message) from None
    return _Page(["", "", *normalised.split("\n")], _all_tables(parsed))


def _all_tables(document: Document) -> tuple[Table, ...]:
    return tuple(table for section in document.sections for table in section.tables)


def _heading_above(lines: Sequence[str], at: int) -> str:
    for line in reversed(lines[:at]):
        found = re.match(r"\s{0,3}#{1,6}\s+(.*?)\s*#*$", line)
        if found:
            return found.group(1)
    return ""


def _cells(line: str, count: int) -> list[str] | None:
    """The cells of a row: split at unescaped pipes, or where that gives too many, at those outside of code spans."""
    cells = _split(line, _UNESCAPED_PIPE.finditer(line))
    if len(cells) > count:
        spans = [span.span() for span in _CODE.finditer(line)]
        outside = (pipe for pipe in _UNESCAPED_PIPE.finditer(line) if not any(start <= pipe.start() < end for start, end in spans))
        cells = _split(line, outside)
    if len(cells) > count:
        return None
    return cells + [""] * (count - len(cells))


def _split(line: str, pipes: Iterable[re.Match[str]]) -> list[str]:
    cells, start = [], 0
    for pipe in pipes:
        cells.append(line[start : pipe.start()])
        start = pipe.end()
    cells.append(line[start:])
    if not cells[0].strip():
        cells = cells[1:]
    if cells and not cells[-1].strip():
        cells = cells[:-1]
    return [cell.strip().replace("\\|", "|") for cell in cells]


def _row(line: int, header: Sequence[str], cells: Sequence[str], found: dict[str, str]) -> Row:
    parts: dict[str, str] = dict(found)
    extra: dict[str, str] = {}
    for heading, cell in zip(header, cells, strict=False):
        name = column_of(heading)
        if not cell.strip():
            continue
        if name is None or name in parts:
            extra[heading.strip()] = cell.strip()
        else:
            parts[name] = cell.strip()
    return Row(line, parts, extra)


def _csv_rows(text: str, delimiter: str) -> list[Row]:
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    try:
        header = next(reader, [])
        if SYMPTOM not in [column_of(heading) for heading in header]:
            raise ValueError("has no column for the phenomenon in its first line")
        rows = []
        line = reader.line_num + 1
        for cells in reader:
            if any(cell.strip() for cell in cells):
                rows.append(_row(line, header, cells, {}))
            line = reader.line_num + 1
        return rows
    except csv.Error as error:
        raise ValueError(f"line {reader.line_num}: {error}") from None


def _json_rows(text: str) -> list[Row]:
    if text.lstrip().startswith("["):
        try:
            items = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise ValueError(f"is no JSON: {error}") from None
        return [_json_row(at, item) for at, item in enumerate(items, 1)]
    rows = []
    for at, line in enumerate(text.split("\n"), 1):
        if line.strip():
            try:
                rows.append(_json_row(at, json.loads(line)))
            except (ValueError, RecursionError) as error:
                rows.append(Row(at, {}, problem=f"is no JSON: {error}"))
    return rows


def _json_row(line: int, item: Any) -> Row:
    if not isinstance(item, dict):
        return Row(line, {}, problem="is no JSON object")
    parts: dict[str, str] = {}
    extra: dict[str, str] = {}
    for key, value in item.items():
        name = "language" if key == "language" else column_of(key)
        if key in ("text", "schema", "outcomes", "not_this") or value in (None, "", []):
            continue
        shown = _json_text(name, value)
        if name is None:
            extra[key] = shown
        else:
            parts[name] = shown
    text = item.get("text")
    return Row(line, parts, extra, text if isinstance(text, str) else None)


def _json_text(name: str | None, value: Any) -> str:
    if isinstance(value, list) and all(isinstance(one, str) for one in value):
        return ("\0" if name == SYMPTOM else ", ").join(value)
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)

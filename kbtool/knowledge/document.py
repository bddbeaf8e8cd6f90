"""The structure of a Markdown file of the base: front matter, title, sections, fences and tables, each with its lines.

markdown-it-py finds the blocks where a page is not plain (inline markup is not parsed: nobody needs it, and it would double the time). Lines are kept as
bytes with their endings, so that a change can be spliced in and every other byte stays what it was.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any, NamedTuple

from kbtool.knowledge.frontmatter import FrontMatter, FrontMatterError, parse
from kbtool.knowledge.headings import section_name
from kbtool.knowledge.plain_markdown import Block, plain_blocks

BOM = b"\xef\xbb\xbf"


class Fence(NamedTuple):
    """A fenced block: `start` and `end` are 0-based lines of the file, fence lines included, `end` excluded."""

    info: str
    text: str
    start: int
    end: int

    @property
    def language(self) -> str:
        """The first word after the fence, lower case."""
        return self.info.split()[0].lower() if self.info.split() else ""


class Row(NamedTuple):
    """One row of a table: its cells as written, unescaped, and its 0-based line."""

    cells: tuple[str, ...]
    line: int


class Table(NamedTuple):
    """A pipe table; `header` are the column names."""

    header: tuple[str, ...]
    rows: tuple[Row, ...]
    start: int
    end: int


class Section(NamedTuple):
    """Everything under one level-two heading: `name` is None for a section of the author's own."""

    name: str | None
    heading: str
    line: int
    end: int
    fences: tuple[Fence, ...]
    tables: tuple[Table, ...]


class Document(NamedTuple):
    """A parsed file. `lines` are its raw lines with endings; `body` is the first line after the front matter."""

    lines: tuple[bytes, ...]
    front: FrontMatter | None
    body: int
    title: str | None
    title_line: int
    sections: tuple[Section, ...]

    def section(self, name: str) -> Section | None:
        """The first section of that name."""
        for section in self.sections:
            if section.name == name:
                return section
        return None

    def text_of(self, section: Section) -> str:
        """The section's Markdown without its heading, line endings as ``\\n``."""
        raw = b"".join(self.lines[section.line + self._heading_height(section) : section.end])
        return raw.decode("utf-8").replace("\r\n", "\n").replace("\r", "\n").strip()

    def _heading_height(self, section: Section) -> int:
        following = self.lines[section.line + 1] if section.line + 1 < len(self.lines) else b""
        underlined = not self.lines[section.line].lstrip().startswith(b"#") and following.strip().strip(b"-=") == b""
        return 2 if underlined else 1

    @property
    def newline(self) -> bytes:
        """The line ending that the file uses first; a file without one gets ``\\n``."""
        first = self.lines[0] if self.lines else b""
        return next((ending for ending in (b"\r\n", b"\n", b"\r") if first.endswith(ending)), b"\n")


def split_lines(data: bytes) -> list[bytes]:
    """Lines with their endings, counted as Markdown counts them: ``\\r\\n``, ``\\n`` and a lone ``\\r`` end a line."""
    return data.splitlines(keepends=True)


def parse_document(data: bytes) -> Document:
    """The structure of `data`.

    Raises FrontMatterError (with a 0-based line of the file) when the front matter is unusable, UnicodeDecodeError when the bytes
    are not UTF-8.
    """
    data.decode("utf-8")  # as a whole, so that an error counts from the beginning of the file
    lines = tuple(split_lines(data))
    first = lines[0].removeprefix(BOM) if lines else b""
    body = _front_matter_end(lines) if first.rstrip() == b"---" else 0
    front = _front_matter(lines, body) if body else None
    text = b"".join(lines[body:]).removeprefix(BOM if not body else b"").decode("utf-8")
    return _assemble(lines, front, body, text)


def _front_matter_end(lines: tuple[bytes, ...]) -> int:
    for at, line in enumerate(lines[1:], start=1):
        if line.rstrip() == b"---":
            return at + 1
    raise FrontMatterError("front matter is opened by `---` and never closed", 0)


def _front_matter(lines: tuple[bytes, ...], body: int) -> FrontMatter:
    text = b"".join(lines[1 : body - 1]).decode("utf-8")
    try:
        return parse(text)
    except FrontMatterError as error:
        raise FrontMatterError(error.message, error.line + 1) from None


@lru_cache(maxsize=1)
def _parser() -> Any:
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark").enable("table").disable(["inline", "text_join"])


def _assemble(lines: tuple[bytes, ...], front: FrontMatter | None, body: int, text: str) -> Document:
    tables: list[Table] = []
    blocks = plain_blocks(text)
    if blocks is None:
        tokens = _parser().parse(text)
        blocks = list(_blocks(tokens))
        tables = [_table(tokens, at, body) for at, token in enumerate(tokens) if token.type == "table_open" and token.level == 0]
    title = next((block for block in blocks if block.level == 1), None)
    openings = [(" ".join(block.text.split()), block.start + body) for block in blocks if block.level == 2]
    fences = [Fence(block.info, block.text, block.start + body, block.end + body) for block in blocks if block.level == 0]
    return Document(lines, front, body, " ".join(title.text.split()) if title else None, title.start + body if title else body, _sections(openings, fences, tables, len(lines)))


def _blocks(tokens: list[Any]) -> Iterator[Block]:
    """The headings and fences among markdown-it's tokens that stand in no list and no quotation."""
    for at, token in enumerate(tokens):
        if token.level != 0 or token.map is None:
            continue
        if token.type == "heading_open":
            yield Block(int(token.tag[1]), tokens[at + 1].content, "", *token.map)
        elif token.type == "fence":
            yield Block(0, token.content.removesuffix("\n"), token.info.strip(), *token.map)


def _table(tokens: list[Any], at: int, body: int) -> Table:
    rows: list[Row] = []
    cells: list[str] = []
    line = tokens[at].map[0] + body
    for token in tokens[at:]:
        if token.type == "tr_open":
            cells, line = [], token.map[0] + body
        elif token.type == "inline":
            cells.append(token.content.strip())
        elif token.type == "tr_close":
            rows.append(Row(tuple(cells), line))
        elif token.type == "table_close":
            break
    start, end = tokens[at].map
    return Table(rows[0].cells if rows else (), tuple(rows[1:]), start + body, end + body)


def _sections(openings: list[tuple[str, int]], fences: list[Fence], tables: list[Table], length: int) -> tuple[Section, ...]:
    ends = [line for _, line in openings[1:] + [("", length)]] if openings else []
    return tuple(
        Section(
            section_name(heading),
            heading,
            line,
            end,
            tuple([fence for fence in fences if line <= fence.start < end]),
            tuple([table for table in tables if line <= table.start < end]),
        )
        for (heading, line), end in zip(openings, ends, strict=True)
    )

"""Front matter, read strictly: scalars stay strings, and whatever YAML can hide behind is refused with its line.

PyYAML's C parser gives events with marks; nothing is ever constructed, so a document can neither run code nor grow. `2.10` stays
`2.10`, `no` stays `no`, and the marks tell where a value stands, so that one value can be replaced without touching the rest.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import yaml

from kbtool.knowledge.plain_frontmatter import Value, plain_values

SIZE_LIMIT = 64 * 1024
"""Bytes of front matter that are read; nobody writes more by hand."""

_LOADER: Any = getattr(yaml, "CBaseLoader", yaml.BaseLoader)


class FrontMatterError(Exception):
    """Unusable front matter; `line` is 0-based within the front matter."""

    def __init__(self, message: str, line: int):
        super().__init__(message)
        self.message = message
        self.line = line


class FrontMatter(NamedTuple):
    """Keys in the order of the file; `text` is the YAML between the two `---` lines."""

    text: str
    values: dict[str, Value]


def parse(text: str) -> FrontMatter:
    """Read YAML `text` as one mapping from names to strings or lists of strings.

    Raises FrontMatterError for anchors, aliases, tags, duplicate keys, more than one document, a size over `SIZE_LIMIT`,
    anything that is no mapping, and broken YAML.
    """
    if len(text.encode("utf-8", "surrogatepass")) > SIZE_LIMIT:
        raise FrontMatterError(f"front matter is larger than {SIZE_LIMIT // 1024} KiB", 0)
    try:
        return FrontMatter(text, plain_values(text) or dict(_mapping(text)))
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise FrontMatterError(f"front matter is not valid YAML: {error.problem or error.context}", mark.line if mark else 0) from None
    except yaml.YAMLError as error:
        raise FrontMatterError(f"front matter is not valid YAML: {error}", 0) from None


def _mapping(text: str) -> Iterator[tuple[str, Value]]:
    events: Iterator[Any] = map(_checked, yaml.parse(text, Loader=_LOADER))
    seen: set[str] = set()
    opened = False
    for event in events:
        if isinstance(event, yaml.MappingEndEvent):
            break
        if not opened:
            opened = _opens(event)
            continue
        name = _key(event)
        if name in seen:
            raise FrontMatterError(f"key `{name}` stands twice", event.start_mark.line)
        seen.add(name)
        yield name, _value(next(events), events)
    for event in events:
        if isinstance(event, yaml.DocumentStartEvent):
            raise FrontMatterError("front matter holds more than one YAML document", _line(event))


def _line(event: Any) -> int:
    return int(event.start_mark.line) if event.start_mark else 0


def _end(event: Any) -> int:
    return int(event.end_mark.index)


def _checked(event: Any) -> Any:
    """Refuse what the format does not allow, while streaming: nothing behind it is parsed."""
    line = _line(event)
    if isinstance(event, yaml.AliasEvent):
        raise FrontMatterError(f"alias `*{event.anchor}` is not allowed", line)
    if getattr(event, "anchor", None):
        raise FrontMatterError(f"anchor `&{event.anchor}` is not allowed", line)
    if getattr(event, "tag", None):
        raise FrontMatterError(f"tag `{event.tag}` is not allowed", line)
    return event


def _opens(event: Any) -> bool:
    """True at the mapping's start; an empty document has none."""
    if isinstance(event, (yaml.StreamStartEvent, yaml.DocumentStartEvent, yaml.DocumentEndEvent, yaml.StreamEndEvent)):
        return False
    if isinstance(event, yaml.ScalarEvent) and not event.value:
        return False
    if not isinstance(event, yaml.MappingStartEvent):
        raise FrontMatterError("front matter must be a mapping of `key: value` lines", event.start_mark.line)
    return True


def _key(event: Any) -> str:
    if not isinstance(event, yaml.ScalarEvent):
        raise FrontMatterError("a key must be a plain word", event.start_mark.line)
    return str(event.value)


def _value(event: Any, events: Iterator[Any]) -> Value:
    mark: Any = event.start_mark
    if isinstance(event, yaml.ScalarEvent):
        return Value(str(event.value), mark.line, mark.index, _end(event))
    if isinstance(event, yaml.SequenceStartEvent):
        items, end = _items(events)
        return Value(items, mark.line, mark.index, end)
    return Value(None, mark.line, mark.index, _skip_nested(events))


def _items(events: Iterator[Any]) -> tuple[list[str], int]:
    items: list[str] = []
    for event in events:
        if isinstance(event, yaml.SequenceEndEvent):
            return items, _end(event)
        if not isinstance(event, yaml.ScalarEvent):
            raise FrontMatterError("a list may hold plain values only", event.start_mark.line)
        items.append(str(event.value))
    return items, 0


def _skip_nested(events: Iterator[Any]) -> int:
    depth = 1
    for event in events:
        depth += isinstance(event, (yaml.MappingStartEvent, yaml.SequenceStartEvent))
        depth -= isinstance(event, (yaml.MappingEndEvent, yaml.SequenceEndEvent))
        if depth > 8:
            raise FrontMatterError("values are nested too deeply", event.start_mark.line)
        if depth == 0:
            return _end(event)
    return 0

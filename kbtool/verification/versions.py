"""Versions as checks and needs compare them: by release numbers, a pre-release below its release, build labels ignored."""

from __future__ import annotations

import re

_VERSION = re.compile(r"(?<![\w.])v?(\d+(?:\.\d+)+(?:\.?(?:a|b|rc|dev|post|alpha|beta)\d*)*(?:\+[\w.]+)?)")
_WHOLE = re.compile(r"(?<![\w.])v?(\d+)(?![\w.])")
_PARTS = re.compile(r"(\d+(?:\.\d+)*)\.?((?:a|b|rc|alpha|beta|dev)\d*)?")

RELEASE_WIDTH = 6
"""Numbers compared: 2.6 equals 2.6.0."""


def last_version(text: str) -> str | None:
    """The last version in `text`; a lone whole number counts where nothing dotted stands."""
    found = _VERSION.findall(text) or _WHOLE.findall(text)
    return str(found[-1]) if found else None


def version_key(version: str) -> tuple[tuple[int, ...], int]:
    """A sortable form: ``2.13.0+cpu`` equals ``2.13``, ``2.6.0a0`` stands below ``2.6``."""
    parts = _PARTS.match(version.removeprefix("v"))
    if parts is None:
        return (0,) * RELEASE_WIDTH, 0
    release = [int(number) for number in parts.group(1).split(".")][:RELEASE_WIDTH]
    return tuple(release + [0] * (RELEASE_WIDTH - len(release))), -1 if parts.group(2) else 0

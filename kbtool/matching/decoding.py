"""Any encoding of a log becomes UTF-8 bytes without NULs, piece by piece."""

from __future__ import annotations

import codecs


class Decoder:
    """Brings what comes to UTF-8; UTF-16 is known by its byte order mark or by the NULs of its ASCII, and everything else is left as it is."""

    def __init__(self) -> None:
        self._wide: codecs.IncrementalDecoder | None = None
        self._begun = False

    def feed(self, chunk: bytes) -> bytes:
        """The chunk's part of the text; a character that it ends in the midst of comes with the next one."""
        if not self._begun and chunk:
            self._begun = True
            name = _wide_encoding(chunk[:4096])
            self._wide = codecs.getincrementaldecoder(name)("replace") if name else None
            chunk = chunk.removeprefix(codecs.BOM_UTF8)
        if self._wide is not None:
            chunk = self._wide.decode(chunk).encode("utf-8", "replace")
        return chunk.translate(None, b"\0") if b"\0" in chunk else chunk

    def rest(self) -> bytes:
        """What the last chunk left over."""
        return self._wide.decode(b"", True).encode("utf-8", "replace") if self._wide is not None else b""


def _wide_encoding(start: bytes) -> str | None:
    if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    half = len(start) // 2
    if half >= 8 and start[1::2].count(0) > 0.7 * half and start[::2].count(0) < 0.1 * half:
        return "utf-16-le"
    if half >= 8 and start[::2].count(0) > 0.7 * half and start[1::2].count(0) < 0.1 * half:
        return "utf-16-be"
    return None

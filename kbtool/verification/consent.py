"""Permission to run a check: kept outside every repository, for the exact check at its exact place, as files a person can read.

A check is code that came with a clone, so reading an entry is free and running it asks. An allowance holds for one command with its
`confirms`, `needs`, `timeout` and prefix in one file; any edit of those asks again, an edit of the prose does not. A denial holds for
the file, whatever it says, and wins over every allowance.
"""

from __future__ import annotations

import contextlib
import datetime
import hashlib
import json
import os
import stat
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any

from kbtool import settings
from kbtool.durable import write_atomically
from kbtool.errors import KbError
from kbtool.model import Check

SIZE_LIMIT = 1 << 20
"""Bytes of a stored file; kb writes far less."""


class Permission(str, Enum):
    """What is known about a check's permission."""

    ALLOWED = "allowed"
    UNKNOWN = "unknown"
    DENIED = "denied"


@dataclass(frozen=True)
class Request:
    """The check that wants to run: the bytes that were read once, where they stand, and the prefix before them."""

    id: str
    path: Path
    check: Check
    via: str = ""

    def content(self) -> dict[str, Any]:
        """Everything that consent is given for."""
        check = self.check
        return {
            "place": _place(self.path),
            "language": check.language,
            "command": check.command,
            "confirms": check.confirms,
            "needs": list(check.needs),
            "timeout": check.timeout,
            "via": self.via,
        }

    @property
    def key(self) -> str:
        """Digest of `content`: the name of the file that allows it."""
        return _digest(self.content())


def _place(path: Path) -> list[str]:
    """The path as it was reached and the path it really is: a link to an allowed file is not that file."""
    return [os.path.abspath(path), os.path.realpath(path)]


def _digest(content: Any) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True, ensure_ascii=True).encode("ascii")).hexdigest()


class Consent:
    """The store of allowances and denials in the state folder: folders 0700, files 0600."""

    def __init__(self, folder: Path | None = None):
        self.folder = folder or settings.state_folder() / "consent"

    def permission(self, request: Request) -> Permission:
        """Whether `request` may run. A file that is not plainly ours, or that holds something else, allows nothing."""
        if any(os.path.lexists(path) for path in self._denial_files(request.path)):
            return Permission.DENIED
        stored = _read(self._allowance_file(request))
        same = stored is not None and stored.get("check") == request.content()
        return Permission.ALLOWED if same else Permission.UNKNOWN

    def allow(self, request: Request, *, by: str = "kb allow") -> Path:
        """Remember that `request` may run, and return the file that says so.

        Raises KbError where the entry is denied or the state folder can not be written.
        """
        if self.permission(request) is Permission.DENIED:
            raise KbError(f"`{request.id}` is denied on this machine", hint=f"`kb deny --undo {request.id}` lifts that")
        target = self._allowance_file(request)
        self._write(target, {"id": request.id, "check": request.content(), "allowed": _now(), "by": by})
        return target

    def deny(self, entry_id: str, path: Path) -> Path:
        """Remember that nothing in the file `path` may run, whatever it will say."""
        target = self._denial_files(path)[-1]
        self._write(target, {"id": entry_id, "path": os.path.realpath(path), "denied": _now()})
        return target

    def undo_denial(self, path: Path) -> bool:
        """Lift a denial; True if there was one. The entry is then as unknown as a new one."""
        found = False
        for target in self._denial_files(path):
            with contextlib.suppress(FileNotFoundError):
                target.unlink()
                found = True
        return found

    def recorded(self) -> list[dict[str, Any]]:
        """Every allowance and denial, oldest first, for a person to read."""
        files = [*self.folder.glob("allow/*.json"), *self.folder.glob("deny/*.json")]
        return sorted((item for file in files if (item := _read(file))), key=lambda item: str(item.get("allowed") or item.get("denied")))

    def _allowance_file(self, request: Request) -> Path:
        return self.folder / "allow" / f"{request.key}.json"

    def _denial_files(self, path: Path) -> list[Path]:
        return [self.folder / "deny" / f"{_digest(place)}.json" for place in _place(path)]

    def _write(self, target: Path, content: dict[str, Any]) -> None:
        text = json.dumps(content, indent=2, ensure_ascii=True) + "\n"
        try:
            for folder in (self.folder, target.parent):
                folder.mkdir(mode=0o700, parents=True, exist_ok=True)
                folder.chmod(0o700)
            write_atomically(target, text.encode("ascii"), mode=0o600)
        except OSError as error:
            raise KbError(f"{target}: the permission could not be written: {error.strerror}", hint="check `kb doctor` for the state folder") from None


def _read(path: Path) -> dict[str, Any] | None:
    """A stored file, or None unless it is a regular file of this user that nobody else can write."""
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0))
    except OSError:
        return None
    try:
        status = os.fstat(descriptor)
        foreign = hasattr(os, "getuid") and (status.st_uid != os.getuid() or status.st_mode & 0o022)
        data = b"" if foreign or not stat.S_ISREG(status.st_mode) else os.read(descriptor, SIZE_LIMIT)
        content = json.loads(data)
    except (OSError, ValueError):
        return None
    finally:
        os.close(descriptor)
    return content if isinstance(content, dict) else None


def _now() -> str:
    return datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M:%SZ")

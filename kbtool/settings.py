"""Where kb keeps things, and the few settings a person may change through the environment.

Nothing here is ever read from a repository: a clone can not configure the kb that looks at it.
"""

from __future__ import annotations

import os
import sys
import zlib
from pathlib import Path

APPLICATION = "kb"


def _folder(variable: str, default: str, kind: str) -> Path:
    """XDG variables count on every platform; without them Linux has fixed defaults and platformdirs knows the others.

    Linux is answered without platformdirs because its import would cost a quarter of the time `kb match` takes.
    """
    chosen = os.environ.get(variable)
    if chosen and os.path.isabs(chosen):
        return Path(chosen) / APPLICATION
    if sys.platform.startswith("linux"):
        return Path(os.path.expanduser(default)) / APPLICATION
    import platformdirs

    return Path(getattr(platformdirs, kind)(APPLICATION, appauthor=False))


def cache_folder() -> Path:
    """Disposable things: the index, the environment fingerprint."""
    return _folder("XDG_CACHE_HOME", "~/.cache", "user_cache_dir")


def state_folder() -> Path:
    """What must not be lost and is not a base: journal, consent, run records, bug reports."""
    return _folder("XDG_STATE_HOME", "~/.local/state", "user_state_dir")


def data_folder() -> Path:
    """The user's own base lives here, in `entries/`."""
    return _folder("XDG_DATA_HOME", "~/.local/share", "user_data_dir")


def user_entries() -> Path:
    """The user's own base of entries."""
    return data_folder() / "entries"


def shipped_entries() -> Path:
    """The entries that come with kb: inside the installed package, or the repository's own in a source checkout."""
    package = Path(__file__).resolve().parent
    installed = package / "entries"
    return installed if installed.is_dir() else package.parent / "entries"


def chosen_entries() -> Path | None:
    """The only base to use, when `$KB_ENTRIES` (or `--entries`, which sets it) names one."""
    chosen = os.environ.get("KB_ENTRIES")
    return Path(chosen) if chosen else None


def journal_wanted() -> bool:
    """False when `KB_JOURNAL=off`: then nothing about matches and verdicts is kept outside the entries."""
    return os.environ.get("KB_JOURNAL", "on").strip().lower() not in ("off", "0", "no", "false")


def place_key(path: Path) -> str:
    """A short name for a place on disk, stable under symlinks: sixteen hex digits of its real path, read forth and back.

    It only keeps places apart that nobody makes alike on purpose; hashlib would load OpenSSL at every start.
    """
    name = os.fsencode(os.path.realpath(path))
    return f"{zlib.crc32(name):08x}{zlib.crc32(name[::-1]):08x}"

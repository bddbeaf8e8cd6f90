"""A bug in kb itself: one line for the person, a redacted report file for the one who mends it."""

from __future__ import annotations

import platform
import sys
import time
import traceback

from kbtool import __version__, settings
from kbtool.durable import write_atomically
from kbtool.errors import ExitStatus

REPORTS_KEPT = 20


def report(error: BaseException) -> int:
    """Write the report and say where; returns the exit status. Nothing in here may fail loudly."""
    from kbtool.cli.render import safe_line

    line = safe_line(f"{type(error).__name__}: {error}")[:300]
    try:
        path = _write(error)
        where = f"; the report is in {path}"
    except Exception as failure:
        where = f"; no report could be written ({type(failure).__name__})"
    sys.stderr.write(f"kb: a bug in kb: {line}{where}\n")
    return ExitStatus.BUG


def _write(error: BaseException) -> str:
    from kbtool.knowledge.redaction import redact

    folder = settings.state_folder() / "bugs"
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    text = "\n".join(
        [
            f"kb {__version__} · Python {platform.python_version()} · {platform.platform()}",
            f"command: {' '.join(sys.argv[1:])}",
            "",
            "".join(traceback.format_exception(error)),
        ]
    )
    path = folder / (time.strftime("%Y%m%dT%H%M%S", time.gmtime()) + f"-{time.monotonic_ns() % 1_000_000:06d}.txt")
    write_atomically(path, redact(text).text.encode("utf-8", "backslashreplace"), mode=0o600)
    for old in sorted(folder.glob("*.txt"))[:-REPORTS_KEPT]:
        old.unlink(missing_ok=True)
    return str(path)

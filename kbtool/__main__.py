"""Start of the program: runs a command and turns whatever happens into one exit status."""

from __future__ import annotations

import errno
import gc
import os
import sys

from kbtool.errors import ExitStatus, KbError

COLLECT_AFTER = 50_000
"""New objects between two searches for garbage. What starting up makes stays: searching through it at Python's usual 700 costs a tenth of a start."""


def main() -> None:
    """Run the command line in `sys.argv` and exit with its status."""
    gc.set_threshold(COLLECT_AFTER)
    try:
        status = _status()
    except KeyboardInterrupt:
        status = ExitStatus.INTERRUPTED
    except BrokenPipeError:
        _silence_stdout()
        status = ExitStatus.OK
    gc.freeze()  # the interpreter would look through all that is left once more, and it all goes anyway
    sys.exit(status)


def _status() -> int:
    import typer

    from kbtool.cli.app import USAGE_ERROR, app

    try:
        status = int(app(prog_name=_name(), standalone_mode=False) or ExitStatus.OK)
        sys.stdout.flush()
        return status
    except KbError as error:
        _tell(error.message, error.hint)
        return error.status
    except typer.Abort:
        return ExitStatus.INTERRUPTED
    except USAGE_ERROR.__base__ as error:  # every error click words for the person at the command line
        _tell(error.format_message(), _usage_hint(error))
        return ExitStatus.ERROR
    except SystemExit as left:
        if type(sys.stdout).__name__ == "PacifyFlushWrapper":  # click met a closed pipe and wants to exit with 1
            raise BrokenPipeError from None
        return int(left.code or 0) if isinstance(left.code, int) else ExitStatus.ERROR
    except BrokenPipeError:
        raise
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EIO) and error.filename is None:
            _tell(f"the output can not be written: {os.strerror(error.errno)}", None)
            _silence_stdout()
            return ExitStatus.ERROR
        return _bug(error)
    except Exception as error:
        return _bug(error)


def _silence_stdout() -> None:
    """What is still buffered has nowhere to go: point stdout at nothing, so that the interpreter's last flush is quiet too."""
    sys.stdout = sys.__stdout__
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


def _bug(error: Exception) -> int:
    from kbtool.cli.bug import report

    return report(error)


def _name() -> str:
    """The name it was called by, which shell completion is registered for; `python -m kbtool` is kb too."""
    called = os.path.basename(sys.argv[0]).removesuffix(".exe")
    return called if called in ("kb", "kbtool") else "kb"


def _usage_hint(error: Exception) -> str | None:
    context = getattr(error, "ctx", None)
    return f"`{context.command_path} --help` shows how it is used" if context is not None else None


def _tell(message: str, hint: str | None) -> None:
    from kbtool.cli.render import safe

    sys.stderr.write(f"kb: {safe(message)}\n")
    if hint:
        sys.stderr.write(f"hint: {safe(hint)}\n")


if __name__ == "__main__":
    main()

"""Questions at a terminal: a line with a proposal that can be edited, and one key for a decision. Talk goes to stderr."""

from __future__ import annotations

import sys

from kbtool.cli.render import safe_line, styled

CONTINUES = "\\"
"""At the end of a line of an answer: the answer goes on in the next line."""


def ask(question: str, proposal: str) -> str:
    """One line from the person; `proposal` stands in the line already and can be edited. Raises EOFError at the end of input."""
    sys.stderr.write(styled(safe_line(question), "bold", stream=sys.stderr) + "\n")
    return _answer(proposal)


def ask_text(question: str, proposal: str) -> str:
    """As `ask`; a line that ends with a backslash is followed by another one."""
    lines = [ask(f"{question} (a \\ at the end of a line: one more line)", proposal)]
    while lines[-1].endswith(CONTINUES):
        lines[-1] = lines[-1].removesuffix(CONTINUES).rstrip()
        lines.append(_answer(""))
    return "\n".join(lines)


def _answer(proposal: str) -> str:
    sys.stderr.flush()
    if sys.stdout.isatty():
        return _with_readline(proposal)
    shown = f"[{safe_line(proposal)}] " if proposal else ""
    sys.stderr.write(f"> {shown}")
    sys.stderr.flush()
    return _line() or proposal


def _with_readline(proposal: str) -> str:
    try:
        import readline
    except ImportError:  # Windows: the proposal is taken by Enter instead of being edited
        sys.stderr.write(f"[{safe_line(proposal)}] " if proposal else "")
        sys.stderr.flush()
        return input("> ").strip() or proposal
    readline.set_startup_hook(lambda: readline.insert_text(proposal.replace("\n", " ")))
    try:
        return input("> ").strip()
    finally:
        readline.set_startup_hook(None)


def _line() -> str:
    line = sys.stdin.readline()
    if not line:
        raise EOFError
    return line.strip()


def ask_key(question: str, keys: str, *, default: str) -> str:
    """One of `keys`, or `default` for Enter; after anything else they are named and it is asked again. Raises EOFError at the end of input."""
    while True:
        sys.stderr.write(question)
        sys.stderr.flush()
        answer = _line().lower()
        if not answer:
            return default
        if answer[0] in keys:
            return answer[0]
        sys.stderr.write(f"`{safe_line(answer)}` is none of the keys: {', '.join(keys)}, or Enter\n")

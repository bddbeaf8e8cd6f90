"""What people write where a check should stand, read as what it is: a command, an expression, a fix, or a sentence.

Tables from wikis hold `assert X`, `print(X)`, a prompt before a command, a whole fenced block, or advice. What can be a check becomes
one; what can not is kept with the reason why.
"""

from __future__ import annotations

import ast
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass

from kbtool.knowledge.lint import EVERYWHERE, commands_of, is_fix, is_sentence

SYNTAX_SECONDS = 30.0
MOST_CHARACTERS = 4000
"""A line longer than this is no check that a person can read before allowing it."""

_SPAN = re.compile(r"(`+)\s?(.*?)\s?\1", re.DOTALL)
_FENCED = re.compile(r"\s*(`{3,}|~{3,})[ \t]*([\w+-]*)[ \t]*\n?(.*?)\s*\1\s*", re.DOTALL)
_PROMPT = re.compile(r"^\s*(?:\$|%|>>>|#|In \[\d*\]:)\s+")
_WRITES = re.compile(r"(?<![0-9&<>=-])>{1,2}(?!\s*(?:/dev/null|&))\s*[\w./~$\"']|\|\s*(?:sudo\s+)?(?:tee|sh|bash)\b|\bsed\s+-i|\bgit\s+(?:reset|checkout|clean|pull|push|commit|stash)\b|\bnvidia-smi\s+-(?:r|pm|pl|mig|e|c)\b|\bsysctl\s+-w\b|\b(?:wget|git\s+clone)\b|\bcurl\b[^|]*\s-[oO]\b|\bmkdir\b|\btouch\b|\bmount\b|\bln\s+-s\b|\bsudo\b")
"""Parts of a line that change something, wherever in the line they stand."""
_FLAG_AFTER = re.compile(r"[a-z][\w.+-]*(?:\s+-{1,2}[A-Za-z]|\s+[\w./-]+\s+-{1,2}[A-Za-z])")
_TELLING = (ast.Call, ast.Compare, ast.Attribute, ast.Subscript, ast.BoolOp)


@dataclass(frozen=True)
class CheckText:
    """A check as it can be used, or (`problem`) why what was written is none; `is_fix` for a command that changes something."""

    command: str
    language: str = "sh"
    confirms: str | None = None
    needs: tuple[str, ...] = ()
    problem: str | None = None
    is_fix: bool = False


def read_check(text: str) -> CheckText:
    """Read a cell or a paragraph that should hold a check."""
    language, command = _bare(text)
    if not command:
        return CheckText("", problem="there is no check")
    if len(command) > MOST_CHARACTERS:
        return CheckText(command, problem=f"the check has {len(command)} characters; nobody reads that before allowing it")
    as_python = None if language == "sh" else _python(command, certain=language == "python")
    if as_python is not None:
        return as_python
    if "\n" in command:
        return CheckText(command, problem=f"the check has {len(command.splitlines())} lines; it must be exactly one")
    if is_sentence(command) or _is_prose(command):
        return CheckText(command, problem="is a description, not a command that runs")
    if changes_something(command):
        return CheckText(command, problem="changes something: that is a fix, not a check", is_fix=True)
    problem = shell_problem(command)
    return CheckText(command, problem=problem) if problem else CheckText(command, needs=missing_needs(command, ()))


def _bare(text: str) -> tuple[str, str]:
    """The language, where a fence names it, and the lines without fences, code spans and prompts."""
    text = re.sub(r"<br\s*/?>", "\n", text, flags=re.IGNORECASE).strip()
    fenced = _FENCED.fullmatch(text)
    if fenced:
        named = fenced.group(2).lower()
        language = "python" if named in ("python", "py") else "sh" if named in ("sh", "bash", "shell", "console") else ""
        text = fenced.group(3)
    else:
        language = ""
        span = _SPAN.fullmatch(text)
        if span and span.group(1) not in span.group(2):
            text = span.group(2)
    lines = [_PROMPT.sub("", line).strip() for line in text.strip().split("\n")]
    return language, "\n".join(line for line in lines if line)


def changes_something(command: str) -> bool:
    """True for a command of which any part changes the system."""
    return is_fix(command) or bool(_WRITES.search(command)) or any(is_fix(part.strip()) for part in re.split(r"&&|\|\||;", command))


def _python(command: str, *, certain: bool) -> CheckText | None:
    """The check in `assert X`, `print(X)`, X, or a few statements that end so; None where it is no Python, an answer anyway if that is `certain`."""
    try:
        body = ast.parse(command).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return CheckText(command, "python", problem="is no Python expression") if certain else None
    if len(body) > 1:
        script = _script(body)
        return script or (CheckText(command, "python", problem="is more than one statement; a check is one expression") if certain else None)
    if isinstance(body[0], ast.Assert):
        return CheckText(_source(command, body[0].test), "python", confirms="false")
    if not isinstance(body[0], ast.Expr):
        return CheckText(command, "python", problem="is a statement; a check is one expression") if certain else None
    return _expression(command, body[0].value, certain)


def _expression(command: str, node: ast.expr, certain: bool) -> CheckText | None:
    printed = _printed(node)
    if printed is not None:
        shown = [_source(command, value) for value in printed]
        if not shown:
            return CheckText(command, "python", problem="prints a fixed text and looks at nothing")
        return CheckText(shown[0] if len(shown) == 1 else f"({', '.join(shown)})", "python")
    known = shutil.which(command.split()[0]) is not None or command.split()[0] in EVERYWHERE
    if certain or (isinstance(node, _TELLING) and not known):
        return CheckText(" ".join(command.split("\n")), "python")
    return None


def _script(body: list[ast.stmt]) -> CheckText | None:
    """Imports followed by one expression are a command of their own: `python -c`."""
    *before, last = body
    imports = [node for node in before if isinstance(node, (ast.Import, ast.ImportFrom))]
    if not imports or len(imports) != len(before) or not isinstance(last, (ast.Expr, ast.Assert)):
        return None
    ending = ast.unparse(last) if isinstance(last, ast.Assert) or _printed(last.value) is not None else f"print({ast.unparse(last.value)})"
    line = "; ".join([*(ast.unparse(node) for node in imports), ending])
    names = [node.module or "" if isinstance(node, ast.ImportFrom) else node.names[0].name for node in imports]
    needs = tuple(f"module:{name.split('.')[0]}" for name in names if name.split(".")[0] not in sys.stdlib_module_names)
    return CheckText(f"python -c {shlex.quote(line)}", confirms="exit nonzero" if isinstance(last, ast.Assert) else None, needs=needs)


def _printed(node: ast.expr) -> list[ast.expr] | None:
    """The values that a call of print shows; None for anything else."""
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print"):
        return None
    values: list[ast.expr] = []
    for argument in node.args:
        if isinstance(argument, ast.JoinedStr):
            values += [part.value for part in argument.values if isinstance(part, ast.FormattedValue)]
        elif not isinstance(argument, ast.Constant):
            values.append(argument)
    return values


def _source(command: str, node: ast.expr) -> str:
    """The node as it was written: inside an f-string older Pythons give no places, so there it is written anew."""
    found = ast.get_source_segment(command, node)
    try:
        same = found is not None and ast.dump(ast.parse(found, mode="eval").body) == ast.dump(node)
    except SyntaxError:
        same = False
    return found if same and found is not None else ast.unparse(node)


def _is_prose(command: str) -> bool:
    """A line whose first word nobody can run: not found here, without options, paths or shell marks, or in a script without Latin letters."""
    words = command.split()
    first = words[0]
    if first in EVERYWHERE or shutil.which(first) or "/" in first or re.match(r"[A-Za-z_]\w*=", first):
        return command.endswith((".", "。", "?", "？")) and len(words) > 3 and not re.search(r"[-/$|]", command)
    if not re.fullmatch(r"[a-z0-9][\w.+-]*", first):
        return True
    return len(words) > 2 and not _FLAG_AFTER.match(command)


def shell_problem(command: str) -> str | None:
    """What the shell's own reading of `command` complains about; None where it is fine. Nothing is run."""
    shell = shutil.which("bash") or shutil.which("sh")
    if shell is None:
        return None
    try:
        done = subprocess.run([shell, "-n", "-c", command], capture_output=True, timeout=SYNTAX_SECONDS, stdin=subprocess.DEVNULL)
    except (subprocess.TimeoutExpired, OSError, ValueError):
        return "the shell can not read it"
    if done.returncode == 0:
        return None
    said = done.stderr.decode("utf-8", "replace").strip().splitlines()
    return f"the shell can not read it: {said[0].split(': ', 2)[-1]}" if said else "the shell can not read it"


def missing_needs(command: str, needs: Sequence[str]) -> tuple[str, ...]:
    """`needs` with `command:NAME` added for each command that not every system has."""
    names = [f"command:{name}" for name in commands_of(command) if name not in EVERYWHERE and re.fullmatch(r"[A-Za-z0-9_.+-]+", name)]
    return (*needs, *(need for need in names if need not in needs))


def unknown_command(command: str, needs: Sequence[str]) -> str | None:
    """The first word of a check that is neither a usual command nor on PATH nor named in `needs`; None where it is fine."""
    for name in commands_of(command)[:1]:
        if name not in EVERYWHERE and f"command:{name}" not in needs and shutil.which(name) is None:
            return name
    return None

"""What is wrong with a file of the base, and where."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from kbtool.errors import KbError

ERROR = "error"
WARNING = "warning"


class Problem(NamedTuple):
    """One finding: `line` is 1-based; an error makes the file unusable, a warning does not."""

    path: Path
    line: int
    level: str
    message: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.message}"


class EntryError(KbError):
    """A file that can not be used as it is; `problems` holds every finding, errors and warnings."""

    def __init__(self, problems: list[Problem]):
        self.problems = problems
        errors = [problem for problem in problems if problem.level == ERROR]
        first = str((errors or problems)[0])
        more = f" (and {len(errors) - 1} more)" if len(errors) > 1 else ""
        super().__init__(first + more, hint=f"`kb lint {errors[0].path if errors else problems[0].path}` lists every problem")

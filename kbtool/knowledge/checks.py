"""The two small languages of a check: `needs` (what must be there) and `confirms` (how to read the result).

Grammar only, as tables; `kbtool.verification` evaluates. So lint can tell a misspelt condition from a wrong one without running anything.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

PLAIN_NEEDS = ("linux", "macos", "windows", "torch", "cuda", "rocm", "mps", "npu", "gpus")
"""Needs that are one word; some may carry a comparison (`torch>=2.6`, `gpus>=2`)."""

NAMED_NEEDS = ("command", "module")
"""Needs of the form ``command:NAME``."""

FILE_NEED = "file"
"""The need of a file by its name: ``file:*.py``, ``file:*.csv|*.tsv``, below the folder a variable names ``file:$DATA/*.csv``."""

CONFIRMS_FORMS = (
    "exit zero",
    "exit nonzero",
    "exit N",
    "stdout contains TEXT",
    "stdout matches REGEX",
    "stderr contains TEXT",
    "stderr matches REGEX",
    "stdout < NUMBER",
    "version < 2.6",
    "true",
    "false",
)
"""Every form, as lint and the documentation list them; `<` stands for any of the six comparisons."""

_NEED = re.compile(r"([a-z]+)\s*(?:(<=|>=|==|!=|<|>)\s*([0-9][0-9A-Za-z.+]*))?")
_NAMED = re.compile(r"(command|module):([A-Za-z0-9_.+-]+)")
_FILE = re.compile(rf"{FILE_NEED}:(?:\$([A-Za-z_]\w*)/)?([^/\s'\"\\]+)")
_COMPARE = re.compile(r"(stdout|version)\s*(<=|>=|==|!=|<|>)\s*(\S+)")
_TEXT = re.compile(r"(stdout|stderr) (contains|matches) (.+)", re.DOTALL)
_EXIT = re.compile(r"exit (zero|nonzero|\d{1,3})")
_NUMBER = re.compile(r"[-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?")
_VERSION = re.compile(r"\d+(?:\.\d+)*[0-9A-Za-z.+-]*")


@dataclass(frozen=True)
class Need:
    """One need: `kind` is a word of `PLAIN_NEEDS`, `NAMED_NEEDS` or `FILE_NEED`; a comparison where one was given.

    `name` is what a named need names, and the patterns of a file's name (``*.csv|*.tsv``); `variable` names the folder they are looked
    for in, where that is not the check's own.
    """

    kind: str
    name: str | None = None
    operator: str | None = None
    version: str | None = None
    variable: str | None = None


@dataclass(frozen=True)
class Condition:
    """How to read a result: `source` is exit, stdout, stderr, version or value; `operator` says what is asked of `operand`."""

    source: str
    operator: str
    operand: str


def parse_need(text: str) -> Need:
    """Read one item of `needs`; raises ValueError with the forms that exist."""
    named = _NAMED.fullmatch(text)
    if named:
        return Need(named.group(1), name=named.group(2))
    file = _FILE.fullmatch(text)
    if file:
        return Need(FILE_NEED, name=file.group(2), variable=file.group(1))
    plain = _NEED.fullmatch(text)
    if plain and plain.group(1) in PLAIN_NEEDS:
        return Need(plain.group(1), operator=plain.group(2), version=plain.group(3))
    forms = ", ".join((*PLAIN_NEEDS, *(f"{name}:NAME" for name in NAMED_NEEDS), "file:*.py", "file:$DATA/*.csv|*.tsv", "gpus>=2", "torch>=2.6"))
    raise ValueError(f"`{text}` is no need kb knows: {forms}")


def parse_confirms(text: str) -> Condition:
    """Read a `confirms` condition; raises ValueError with the forms that exist."""
    if text in ("true", "false"):
        return Condition("value", "is", text)
    if found := _EXIT.fullmatch(text):
        return Condition("exit", "is", found.group(1))
    if found := _TEXT.fullmatch(text):
        return _text_condition(*found.groups())
    if found := _COMPARE.fullmatch(text):
        return _comparison(*found.groups())
    raise ValueError(f"`{text}` is no condition kb knows: {' · '.join(CONFIRMS_FORMS)}")


def _text_condition(source: str, operator: str, operand: str) -> Condition:
    if operator == "matches":
        try:
            re.compile(operand)
        except re.error as error:
            raise ValueError(f"`{operand}` is no regular expression: {error}") from None
    return Condition(source, operator, operand)


def _comparison(source: str, operator: str, operand: str) -> Condition:
    shape, what = (_VERSION, "version") if source == "version" else (_NUMBER, "number")
    if not shape.fullmatch(operand):
        raise ValueError(f"`{operand}` is no {what}")
    return Condition(source, operator, operand)

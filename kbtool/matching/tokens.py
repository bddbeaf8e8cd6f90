"""What a line says, as tokens: words, names and their parts, command-line options, numbers that are codes, and pairs of characters for CJK.

Plain numbers are noise; a number that follows a word is kept with it (`errno#28`, `signal#9`, `operand#118`), so that the base itself can
tell which of them distinguish its entries. Addresses, hashes and the like are masked.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache

from kbtool.patterns import Pattern

CODE = "#"
"""Joins a word and the number behind it."""

_NAME = r"--[A-Za-z][\w-]*|[A-Za-z_][A-Za-z0-9_]*"
_NUMBER = r"(?<![\w.])-?\d+(?:\.\d+)*"
_ADDRESS = r"0x[0-9a-fA-F]+"
_MARKS = ":=([#<>'\""
"""What may stand between a name and its number, beside blanks."""
_GLUE = rf"[\s{re.escape(_MARKS)}]*"
_ASCII_GLUE = " \t\n\r\f\v\x1c\x1d\x1e\x1f" + _MARKS
_BREAKS = bytes(code if chr(code).isalnum() or code == ord("_") else ord(" ") for code in range(256))
"""Every ASCII character that no name has becomes a blank."""
_AFTER_DIGITS = ":"
"""The character after the digits: what begins with a digit comes before it."""


def _token(name: str) -> str:
    """A name, with the number behind it if there is one; or an address or another number, which are read over."""
    return rf"({name})(?:{_GLUE}((?=[-0-9])(?!{_ADDRESS}){_NUMBER}))?|{_ADDRESS}|{_NUMBER}"


_LONE_NUMBER = re.compile(r"[-0-9](?<![\w.][-0-9])(?:(?<=[0-9])|(?=[0-9]))[0-9]*(?:\.[0-9]+)*")
"""_NUMBER in an ASCII text, which is searched for faster by what it begins with."""
_ASCII_TOKEN = re.compile(_token(_NAME))
_TOKEN = Pattern(_token(rf"{_NAME}|(?=[^\x00-\x7f]){_NUMBER}|[\u3400-\u9fff\u3040-\u30ff\uac00-\ud7af]+|[^\W\d_]+"))
"""Large sets of characters are slow to compile, and most logs need none."""
_WORD = re.compile(r"[A-Za-z][a-z]*(?:(?<=[g-z])\d*)?")
"""A word, with a number behind it where that can not make it a hash."""
_HUMP = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+")
_HASH = re.compile(r"(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,}$", re.IGNORECASE)

LONGEST = 80
"""Characters of a name; what is longer is data."""

CODE_WORDS: frozenset[str] = frozenset(
    {"errno", "signal", "exitcode", "exit", "code", "status", "xid", "error", "rc", "http", "sig", "operand", "opcode", "version", "sm", "capability"}
)
"""Words whose number is a code by trade: another number is another fault."""
_HTTP = re.compile(r"[45]\d\d(?<![\w.]...)(?= [A-Z][a-z])")

STOP_WORDS: frozenset[str] = frozenset(
    (
        "a an and are as at be been but by can do does for from has have if in into is it its may no not of on or our so that the their them then there these"
        " this those to too was we were what when where which while will with would you your"
    ).split()
)
"""English words that tell nothing about a fault."""

CJK_START = "\u3040"
"""From this character on, texts have no blanks between words."""


def cut(line: str) -> tuple[list[str], list[str]]:
    """The tokens and the words of a line, in one pass.

    Names and plain numbers are told apart by blanks; options, addresses, names that begin with digits and other letters than ASCII's take a
    pattern, up to three times as long.
    """
    held: list[str] = []
    phrase: list[str] = []
    spaced, names = _spaced(line)
    if not names:
        _cut_by_pattern(line, held, phrase)
    elif min(names) < _AFTER_DIGITS:
        for before, code in _numbers(line, spaced):
            _add([name for name in before.split() if name > _AFTER_DIGITS], held, phrase)
            held += code
        held += _http(line)
    else:
        _add(names, held, phrase)
    return held, phrase


def _cut_by_pattern(line: str, held: list[str], phrase: list[str]) -> None:
    for name, number in (_ASCII_TOKEN if line.isascii() else _TOKEN.regex).findall(line):
        if name >= CJK_START:
            pairs = _cjk(name)
            held += pairs
            phrase += pairs
        elif name:
            _add((name,), held, phrase)
            if number:
                held.append(_code(name, number))
    held += _http(line)


def _add(names: Iterable[str], held: list[str], phrase: list[str]) -> None:
    for name in names:
        if found := _names(name):
            held += found
            phrase.append(found[0])


def _spaced(text: str) -> tuple[str, list[str]]:
    """A text with blanks for everything that no name has, and its names and numbers; nothing for one that takes the pattern."""
    if not text.isascii() or "--" in text:
        return "", []
    spaced = text.encode("ascii").translate(_BREAKS).decode("ascii")  # bytes are translated ten times as fast as characters
    names = spaced.split()
    if all(map(str.isdigit, [name for name in names if name < _AFTER_DIGITS])):
        return spaced, names
    return "", []


def _numbers(text: str, spaced: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """What stands before each number of a text, spaced, and the code that the last name there makes of it, if there is one; at last what stands after them."""
    at = 0
    for found in _LONE_NUMBER.finditer(text):
        before = spaced[at : found.start()]
        unglued = before[: len(text[at : found.start()].rstrip(_ASCII_GLUE))]
        name = unglued.rsplit(None, 1)[-1] if unglued and unglued[-1] != " " else ""
        yield before, (_code(name, found.group()),) if name > _AFTER_DIGITS else ()
        at = found.end()
    yield spaced[at:], ()


def _code(name: str, number: str) -> str:
    return f"{_stem(name.lower().lstrip('-'))}{CODE}{number}"


def tokens(line: str) -> list[str]:
    """All tokens of a line in order, parts of compound names after the name itself."""
    return cut(line)[0]


def token_set(text: str) -> set[str]:
    """All tokens of a text, in no order: of prose in two thirds of the time."""
    spaced, found = _spaced(text)
    if not found:
        return set(tokens(text))
    names = set(found)
    numbers = {name for name in names if name < _AFTER_DIGITS}
    held = set().union(*map(_names, names - numbers))
    if numbers:
        held.update(code for _, codes in _numbers(text, spaced) for code in codes)
        held.update(_http(text))
    return held


def words(line: str) -> list[str]:
    """The tokens of a line without codes and parts of names: what phrases are made of."""
    return cut(line)[1]


_STEPS = r"[\w.@+-]+(?:[/\\][\w.@+-]+)+"
_PATH = rf"(?:/{_STEPS}|\\{_STEPS})"
_DRIVE = Pattern(r"\b[A-Za-z]:(?=[/\\][\w.@+-]+[/\\])", ":\\", ":/")
_VARIABLE = re.compile(
    r"https?://\S+"
    r"|'(?<!\w')[^'\n]{1,120}'(?!\w)"
    r'|"[^"\n]{1,120}"'
    r"|<[^<>\n]{1,80}>"
    r"|\[(?!Errno)[^\[\]\n]{0,120}\]"
    r"|\{[^{}\n]{0,160}\}"
    rf"|~{_PATH}|\.\.{{0,2}}{_PATH}|{_PATH}"
)
"""What a message is about: quotes, brackets, addresses and paths. Each alternative begins with one certain character, so that `re` passes over all places without one at once."""


def fixed_text(line: str) -> str:
    """What a message says whatever it is about: without quotes, brackets, addresses and paths, each of which leaves a blank."""
    return _VARIABLE.sub(" ", _DRIVE.sub("", line))


@lru_cache(512)
def fixed_tokens(line: str) -> frozenset[str]:
    """The tokens of what a message says whatever it is about."""
    return frozenset(token_set(fixed_text(line)))


def _http(line: str) -> list[str]:
    return [f"http{CODE}{found}" for found in _HTTP.findall(line)] if "4" in line or "5" in line else []


def _cjk(text: str) -> list[str]:
    return [text[at : at + 2] for at in range(len(text) - 1)] or [text]


@lru_cache(32768)
def _names(text: str) -> tuple[str, ...]:
    """A name and its parts; the same few names make up most of a log."""
    lowered = text.lower()
    if len(text) <= LONGEST and _WORD.fullmatch(text):  # most are plain words, which have no parts
        return () if lowered in STOP_WORDS else (_stem(lowered),)
    if len(text) > LONGEST or _HASH.match(lowered) or lowered in STOP_WORDS:
        return ()
    names = [_stem(lowered)]
    humps = [hump.lower() for hump in _HUMP.findall(text) if not hump[0].isdigit()]
    if len(humps) > 1 or (humps and "_" in text.strip("_")) or text.startswith("--"):
        names += (_stem(hump) for hump in humps if len(hump) > 1 and hump not in STOP_WORDS)
    return tuple(names)


def _stem(word: str) -> str:
    """Without a plural s: the only ending that wordings of one fault really differ by."""
    if word[-1:] != "s" or len(word) <= 4 or word.endswith(("ss", "us", "is")):
        return word
    return word[:-1]

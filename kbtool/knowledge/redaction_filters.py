"""The last word on a candidate: what looks like a secret or a private place and is none.

Words that stand for no value, version numbers that look like addresses, symbols of C++ that look random. Each list is a table.
"""

from __future__ import annotations

import math
import re
from collections import Counter

from kbtool.patterns import Pattern

NO_VALUES = frozenset(
    ["none", "null", "true", "false", "nil", "required", "optional", "missing", "invalid", "incorrect", "wrong", "empty", "unset", "undefined", "default", "string", "str", "bytes", "int", "hidden", "redacted", "removed", "masked", "changeme", "example", "placeholder", "prompt", "not", "set", "unknown", "failed", "expired", "provided", "given", "must", "should"]
)
"""Words that stand where a secret would stand and are none."""

OBJECTS = ("os.", "self.", "args.", "cfg.", "config.", "getpass", "settings.", "tokenizer.", "model.")
"""Beginnings of code that names a value instead of giving it."""

NOBODY = frozenset({"user", "username", "name", "you", "runner", "shared", "public", "default", "all users", "linuxbrew", "conda"})
"""Home directories that name no person."""

OPEN_HOSTS = frozenset({"localhost", "none", "null", "true", "false", "auto", "default", "host", "hostname", "unknown", "name", "str", "localhost.localdomain"})
"""Values of a host setting that name no machine."""

OPEN_MAILBOXES = ("git@", "noreply@", "no-reply@")
"""Addresses that belong to a program."""

TOP_LEVELS = frozenset(
    ["com", "org", "net", "edu", "gov", "mil", "int", "info", "biz", "io", "ai", "dev", "app", "cloud", "tech", "me", "co", "uk", "de", "fr", "nl", "be", "ch", "at", "it", "es", "pt", "pl", "cz", "se", "no", "dk", "fi", "ie", "ru", "ua", "tr", "gr", "hu", "ro", "cn", "jp", "kr", "tw", "hk", "sg", "in", "au", "nz", "ca", "us", "br", "mx", "ar", "cl", "za", "il", "ae", "sa", "ir", "vn", "th", "id", "my", "ph", "eu", "science", "research", "institute", "academy"]
)
"""Ends of mail addresses, so that `x@self.weight` in a line of code is none."""

VERSION_BEFORE = Pattern(
    r"(?:[=<>!~]=|[<>]|(?<![A-Za-z])v|(?:version|versions|release|driver|runtime|build|cudnn|nccl|cublas|cublaslt|cufft|curand|cusolver|cusparse|cutensor|nvrtc|nvjitlink|tensorrt|rocm|hip|miopen|rccl|cann|cu1[0-9])"
    r"[\"']?\s{0,2}[:=(]?\s{0,2}[\"']?v?)$",
    flags=re.IGNORECASE,
)
"""What stands before four numbers with points that are a version."""

KEPT_ADDRESSES = ("0.", "127.", "255.")
"""Addresses that name no machine: any, loopback, masks."""

ENTROPY = 4.0
"""Bits per character from which on a string counts as random; English and identifiers stay below, 32 random letters and digits lie near 4.5."""

CHANGES = 0.45
"""Share of neighbours of different kind (upper, lower, digit): about 0.6 in random strings, below 0.4 in mangled symbols and names."""

_RANDOM_SYMBOL = Pattern(r"_Z|^[0-9A-F-]+$|^[0-9a-f-]+$")
_MIN_GROUPS = 4


def _candidate(found: re.Match[str]) -> str:
    return found.group("secret") if "secret" in found.re.groupindex else found.group()


def _before(found: re.Match[str], length: int = 24) -> str:
    return found.string[max(0, found.start() - length) : found.start()]


def _after(found: re.Match[str]) -> str:
    return found.string[found.end() : found.end() + 2]


def is_value(found: re.Match[str]) -> bool:
    """A value somebody typed, not a word that stands for none, a variable or a call."""
    value = _candidate(found)
    after = _after(found)
    if value.strip("*.-_xX#").casefold() in NO_VALUES | {""} or value.startswith(OBJECTS):
        return False
    return not after.startswith(("(", "[", " is ", "{"))


def has_letter_and_digit(found: re.Match[str]) -> bool:
    """A value with letters and digits in it; names and plain numbers are none."""
    value = _candidate(found)
    return any(map(str.isalpha, value)) and any(map(str.isdigit, value)) and not value.startswith(("/", "./", *OBJECTS))


def is_person(found: re.Match[str]) -> bool:
    """A home directory that names a person."""
    return _candidate(found).casefold() not in NOBODY


def is_email(found: re.Match[str]) -> bool:
    """An address with a known end, and none that belongs to a program."""
    address = _candidate(found)
    return address.rsplit(".", 1)[-1] in TOP_LEVELS and not address.casefold().startswith(OPEN_MAILBOXES)


def is_login(found: re.Match[str]) -> bool:
    """USER@HOST of a prompt or a remote copy; `git@` is everybody's."""
    return not _candidate(found).startswith("git@")


def is_host(found: re.Match[str]) -> bool:
    """A name that could only be one machine's: it holds a digit, a hyphen or a point, and is no word of a configuration."""
    name = _candidate(found)
    if name.casefold() in OPEN_HOSTS or ".." in name:
        return False
    first = name.split(".", 1)[0]
    return any(char.isdigit() or char in "-[" for char in first) or name.count(".") >= 2 and not _is_symbol(name)


def _is_symbol(name: str) -> bool:
    return name.startswith(("torch.", "os.", "self.", "args.", "numpy.", "np.", "threading.", "socket."))


def is_nccl_host(found: re.Match[str]) -> bool:
    """The host that NCCL prints before process and thread number."""
    return _candidate(found).casefold() not in OPEN_HOSTS


def is_ipv4(found: re.Match[str]) -> bool:
    """Four octets that name a machine: no version, no loopback, mask or part of a longer number."""
    text, before, after = found.group(), _before(found), _after(found)
    if before[-1:] in (*"._-", "\\") or before[-1:].isalnum() or after[:1].isalnum() or re.match(r"[._-]\w|\+", after):
        return False
    octets = text.split(".")
    if any(len(octet) > 1 and octet.startswith("0") or int(octet) > 255 for octet in octets):
        return False
    return not text.startswith(KEPT_ADDRESSES) and not VERSION_BEFORE.search(before)


def is_ipv6(found: re.Match[str]) -> bool:
    """An IPv6 address with enough groups that it is no time, no C++ name and no PCI address."""
    text = found.group()
    if text.count(":") < 3 and not text.casefold().startswith(("fe80:", "fd", "fc", "20")):
        return False
    import ipaddress

    groups = [group for group in text.split(":") if group]
    try:
        address = ipaddress.IPv6Address(text)
    except ValueError:
        return False
    if address.is_loopback or address.is_unspecified:
        return False
    return len(groups) >= _MIN_GROUPS or address.is_link_local or text[:4].casefold() in ("2001", "2a00", "2a01", "2600") or len(groups[0]) == 4


def entropy(text: str) -> float:
    """Shannon entropy in bits per character."""
    length = len(text)
    return -sum(count / length * math.log2(count / length) for count in Counter(text).values())


def _kind(char: str) -> int:
    return 0 if char.isdigit() else 1 if char.islower() else 2


def is_random(found: re.Match[str]) -> bool:
    """Three kinds of characters, high entropy, kinds that change all the time: drawn at random, not written."""
    text = found.group().rstrip("=")
    if _RANDOM_SYMBOL.search(text) or found.string[max(0, found.start() - 3) : found.start()].endswith(("_Z", "0x")):
        return False
    letters = [char for char in text if char.isalnum()]
    if len({_kind(char) for char in letters}) < 3 or entropy(text) < ENTROPY:
        return False
    changes = sum(_kind(one) != _kind(other) for one, other in zip(letters, letters[1:], strict=False))
    return changes / len(text) >= CHANGES

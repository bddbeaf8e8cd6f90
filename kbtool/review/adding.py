"""From a solved failure to an entry: what kb proposes, what it refuses as no knowledge, and which entries are near.

A proposal is made of what was seen: the telling lines, redacted, a title and an id out of them, the domain by the decision table. What
only a person knows (cause, check, fix) is asked for elsewhere and judged here, all objections at once.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from kbtool.knowledge.checks import parse_confirms, parse_need
from kbtool.knowledge.checktext import CheckText, read_check, unknown_command
from kbtool.knowledge.composing import NO_CAUSE, RESERVED, Draft, clean, slug
from kbtool.knowledge.keywords import locate_domain
from kbtool.knowledge.redaction import preview, redact
from kbtool.knowledge.schema import ID, duration, today
from kbtool.matching.answer import answer_text
from kbtool.matching.index import Index
from kbtool.matching.report import report_text
from kbtool.matching.tokens import tokens
from kbtool.model import DEFAULT_TIMEOUT, Confidence, Domain, Entry, Status, first_sentence

PASTE_HERE = "paste what the program printed here"
"""The symptom of an untouched template."""

TITLE_LENGTH = 90
NEAR = 3
LIKELY = 0.1
"""Estimated probability of being the same fault from which on a second or third entry is shown."""
TAIL_LINES = 12
"""Lines taken from a text in which no failure was recognised."""

LIKE_A_DOMAIN = 0.75
"""Likeness to an existing domain (difflib's ratio) from which on a new name is taken for a slip of the fingers."""

NEW_WORDS = 0.25
"""Share of words that a root cause must add to the symptom; with fewer it only repeats it."""


@dataclass(frozen=True)
class Parts:
    """What a person or program gave for an entry; empty where nothing was given."""

    symptom: str = ""
    wordings: tuple[str, ...] = ()
    """Further wordings of the symptom."""
    root_cause: str = ""
    verify: str = ""
    title: str = ""
    id: str = ""
    domain: str = ""
    confirms: str = ""
    needs: tuple[str, ...] = ()
    fix: str = ""
    tags: tuple[str, ...] = ()
    family: str = ""
    applies_to: tuple[str, ...] = ()
    timeout: str = ""
    language: str = ""
    draft: bool = False
    new_domain: bool = False
    """True where a domain that no base has yet is meant, however much it looks like another."""


@dataclass(frozen=True)
class Refusal:
    """One objection: the part it is about, and what is wrong with it."""

    part: str
    message: str


@dataclass(frozen=True)
class Near:
    """An entry that may be the same fault."""

    id: str
    title: str
    score: float
    strong: bool
    pattern: str


LIST_PARTS = ("needs", "tags", "applies_to")


def parts_from_json(value: Mapping[str, Any]) -> tuple[Parts, list[Refusal]]:
    """Parts out of a JSON object; a key kb does not know or a value of another kind is an objection."""
    known = {field.name for field in fields(Parts)} - {"wordings"}
    given: dict[str, Any] = {}
    refusals: list[Refusal] = []
    for key, item in value.items():
        name = key.replace("-", "_")
        if name not in known:
            near = difflib.get_close_matches(name, known, n=1)
            refusals.append(Refusal(key, "is no part of an entry" + (f"; did you mean `{near[0]}`?" if near else f": {', '.join(sorted(known))}")))
        elif name in ("draft", "new_domain"):
            given[name] = item is True
        elif name in LIST_PARTS:
            items = item if isinstance(item, list) else str(item or "").split(",")
            given[name] = tuple(str(one).strip() for one in items if str(one).strip())
        elif isinstance(item, (str, int, float)) and not isinstance(item, bool):
            given[name] = str(item)
        elif name == "symptom" and isinstance(item, list) and all(isinstance(one, str) for one in item):
            given[name], given["wordings"] = (item[0] if item else ""), tuple(item[1:])
        elif item is not None:
            refusals.append(Refusal(key, "must be a text"))
    return Parts(**given), refusals


def telling_lines(text: str) -> str:
    """The lines of an input that a fault is known by: the first real failure's message, else its last lines."""
    failure = report_text(text).failure
    if failure is not None and failure.excerpt.strip():
        return clean(failure.excerpt)
    lines = [line for line in clean(text).split("\n") if line.strip()]
    return "\n".join(lines[-TAIL_LINES:])


def propose(parts: Parts, domains: Sequence[Domain], taken: Iterable[str]) -> Parts:
    """`parts` with title, id and domain filled in where they are missing."""
    title = parts.title or propose_title(parts.symptom)
    domain = parts.domain
    if not domain:
        found = locate_domain(parts.symptom, domains) or locate_domain(parts.root_cause, domains)
        domain = found.name if found else ""
    return replace(parts, title=title, domain=domain, id=parts.id or _free(slug(title), set(taken)))


def propose_title(symptom: str) -> str:
    """The telling line of a symptom, short enough for a heading."""
    lines = [line.strip() for line in symptom.split("\n") if line.strip()]
    told = next((line for line in lines if re.match(r"[\w.]*(?:Error|Exception)\b", line)), lines[-1] if lines else "")
    return told if len(told) <= TITLE_LENGTH else told[: TITLE_LENGTH - 1].rsplit(" ", 1)[0] + "…"


def _free(wanted: str, taken: set[str]) -> str:
    return wanted if wanted not in taken else next(name for n in range(2, len(taken) + 3) if (name := f"{wanted[:76]}-{n}") not in taken)


def near_entries(symptom: str, index: Index) -> list[Near]:
    """The entries that match a symptom best, retired ones too: the first, and others that are likely at all."""
    if not symptom.strip():
        return []
    matches = [match for place, match in enumerate(answer_text(symptom, index, all=True).matches[:NEAR]) if place == 0 or match.score >= LIKELY]
    return [Near(match.id, match.title, match.score, match.confidence is Confidence.STRONG, first_sentence(match.root_cause)) for match in matches]


def same_fault(parts: Parts, entries: Iterable[Entry]) -> Refusal | None:
    """The objection to a fault that an entry tells already, word for word."""
    symptom, cause = " ".join(parts.symptom.split()), " ".join(parts.root_cause.split())
    for entry in entries:
        if any(" ".join(text.split()) == symptom for text in entry.symptoms) and " ".join(entry.root_cause.split()) == cause:
            return Refusal("symptom", f"`{entry.id}` tells this fault already, with the same cause")
    return None


def redacted(parts: Parts) -> tuple[Parts, list[str], list[Refusal]]:
    """`parts` without secrets and private places, the kinds of what was taken out, and objections to checks that hold some.

    A check is never changed behind a person's back: with a placeholder in it, it would be another command.
    """
    found: list[str] = []
    objections: list[Refusal] = []
    kept: dict[str, Any] = {}
    for name in ("symptom", "root_cause", "title", "fix", "family"):
        result = redact(getattr(parts, name))
        kept[name] = result.text
        found += preview(result)
    kept["wordings"] = tuple(redact(text).text for text in parts.wordings)
    hidden = preview(redact(parts.verify))
    if hidden:
        objections.append(Refusal("verify", f"holds what only you should see ({', '.join(hidden)}); write it without, or use --no-redact"))
    return replace(parts, **kept), list(dict.fromkeys(found)), objections


def check_of(parts: Parts) -> CheckText:
    """The check of the parts, read as a person wrote it; what was given in words of its own wins."""
    written = f"```{parts.language}\n{parts.verify}\n```" if parts.language and parts.verify.strip() else parts.verify
    read = read_check(written)
    needs = tuple(dict.fromkeys((*parts.needs, *(need for need in read.needs if need not in parts.needs))))
    return replace(read, confirms=parts.confirms or read.confirms, needs=needs)


def refusals(parts: Parts, taken: Iterable[str], domains: Iterable[str] = ()) -> list[Refusal]:
    """Every objection to saving `parts`, complete; none: it is knowledge. `domains` are the names of those that exist."""
    found = [
        *_refuse_symptom(parts),
        *_refuse_cause(parts),
        *_refuse_check(parts),
        *_refuse_names(parts, set(taken)),
        *_refuse_domain(parts, sorted(set(domains))),
    ]
    return list(dict.fromkeys(found))


def _refuse_symptom(parts: Parts) -> list[Refusal]:
    symptom = clean(parts.symptom).strip()
    if not symptom:
        return [Refusal("symptom", "is empty: what did the program print?")]
    if symptom.casefold() == PASTE_HERE:
        return [Refusal("symptom", "is still the template's: put in what the program printed")]
    return []


def _refuse_cause(parts: Parts) -> list[Refusal]:
    cause = clean(parts.root_cause).strip()
    if not cause:
        return [] if parts.draft else [Refusal("root_cause", "is missing: why does it happen? (with --draft it may come later)")]
    return [Refusal("root_cause", "only repeats the symptom: why does it happen?")] if repeats(cause, parts.symptom) else []


def repeats(cause: str, symptom: str) -> bool:
    """True when a root cause says nothing that the symptom does not say."""
    known = set(tokens(symptom))
    words = set(tokens(cause))
    return not words or len(words - known) < NEW_WORDS * len(words)


def _refuse_check(parts: Parts) -> list[Refusal]:
    found: list[Refusal] = []
    if not parts.verify.strip():
        return [] if parts.draft else [Refusal("verify", "is missing: which one line shows that this cause is present? (with --draft it may come later)")]
    read = check_of(parts)
    if read.problem:
        found.append(Refusal("verify", read.problem))
    elif read.language == "sh" and (name := unknown_command(read.command, parts.needs)):
        found.append(Refusal("verify", f"`{name}` is no command here; if it is one elsewhere, add `--needs command:{name}`"))
    return found + _refuse_conditions(parts, read)


def _refuse_conditions(parts: Parts, read: CheckText) -> list[Refusal]:
    found: list[Refusal] = []
    for part, value, grammar in (
        *(("confirms", value, parse_confirms) for value in (parts.confirms,) if value),
        *(("needs", need, parse_need) for need in parts.needs),
        *(("timeout", value, duration) for value in (parts.timeout,) if value),
    ):
        try:
            grammar(value)
        except ValueError as error:
            found.append(Refusal(part, str(error)))
    of_value = parts.confirms in ("true", "false")
    if parts.confirms and of_value != (read.language == "python") and not read.problem:
        kind = "a Python expression is `true` or `false`" if read.language == "python" else "`true` and `false` are for a Python expression"
        found.append(Refusal("confirms", f"`{parts.confirms}` does not fit this check: {kind}"))
    return found


def _refuse_names(parts: Parts, taken: set[str]) -> list[Refusal]:
    found: list[Refusal] = []
    if not parts.title.strip() or "\n" in parts.title.strip():
        found.append(Refusal("title", "must be one line"))
    if not ID.fullmatch(parts.id):
        found.append(Refusal("id", f"`{parts.id[:80]}` is no id: lower-case letters, digits and hyphens, 3 to 80 of them, a letter first"))
    elif parts.id in RESERVED:
        found.append(Refusal("id", f"`{parts.id}` is the name of a device on Windows; nobody there could check the base out"))
    elif parts.id in taken:
        found.append(Refusal("id", f"`{parts.id}` is taken; choose another one, or add this wording to it with `kb learn {parts.id}`"))
    return found


def _refuse_domain(parts: Parts, domains: Sequence[str]) -> list[Refusal]:
    known = ", ".join(domains) or "data, training"
    if not parts.domain:
        return [Refusal("domain", f"is not clear from the symptom: name one of {known}")]
    if not ID.fullmatch(parts.domain):
        return [Refusal("domain", f"`{parts.domain[:80]}` is no domain's name: lower-case letters, digits and hyphens")]
    meant = nearest_domain(parts.domain, domains)
    if meant and not parts.new_domain:
        return [Refusal("domain", f"there is no `{parts.domain}`; did you mean `{meant}`? `--new-domain` makes a new one")]
    return []


def nearest_domain(name: str, domains: Sequence[str]) -> str | None:
    """The existing domain that a name which is none was probably meant for; None for an existing one and for one unlike all."""
    near = [] if name in domains else difflib.get_close_matches(name, domains, n=1, cutoff=LIKE_A_DOMAIN)
    return near[0] if near else None


def draft_of(parts: Parts, *, met_on: str = "") -> Draft:
    """The entry to be, of parts that nobody objects to. `met_on` is the environment it was met on, kept where no outcome tells it."""
    read = check_of(parts)
    return Draft(
        id=parts.id,
        domain=parts.domain,
        title=parts.title,
        symptoms=tuple(dict.fromkeys(text for text in map(clean, (parts.symptom, *parts.wordings)) if text.strip())),
        root_cause=parts.root_cause or NO_CAUSE,
        check=read.command or None,
        language=read.language,
        confirms=read.confirms,
        needs=read.needs,
        timeout=duration(parts.timeout) if parts.timeout else DEFAULT_TIMEOUT,
        fix=parts.fix,
        notes=f"Met on: {met_on}" if met_on else "",
        tags=parts.tags,
        family=parts.family or None,
        applies_to=parts.applies_to,
        status=Status.DRAFT if parts.draft else Status.ACTIVE,
        created=today().isoformat(),
    )

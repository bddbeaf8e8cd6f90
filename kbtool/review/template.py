"""The commented text that `kb add --edit` opens, and what comes back from the editor.

`id` and `domain` stand in the front matter only while the text is a template: an entry's file and folder say them. Comments that begin
with `kb:` are taken out, everything else of the person's is kept as written.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from kbtool.knowledge.composing import clean
from kbtool.knowledge.entry import examine
from kbtool.knowledge.layers import Base
from kbtool.knowledge.problems import ERROR
from kbtool.knowledge.redaction import preview, redact
from kbtool.knowledge.schema import ID
from kbtool.knowledge.writing import fence_lines, yaml_scalar
from kbtool.model import Domain, Entry, Status
from kbtool.review.adding import PASTE_HERE, Parts, Refusal, propose, refusals
from kbtool.review.saving import place_of

_COMMENT = re.compile(r"<!--\s*kb:.*?-->[ \t]*\n?", re.DOTALL)
_FRONT = re.compile(r"---[ \t]*\n(.*?)^---[ \t]*$", re.DOTALL | re.MULTILINE)
_ADDRESS = re.compile(r"^(id|domain):[ \t]*(.*?)[ \t]*(?:#.*)?$\n?", re.MULTILINE)
_HINT = re.compile(r"^#[ \t]*kb:.*$\n?", re.MULTILINE)


@dataclass(frozen=True)
class Filled:
    """What came back from the editor: the entry's text, the entry where it is one, and kinds of what was taken out."""

    text: str
    entry: Entry | None
    replaced: tuple[str, ...] = ()


def template(parts: Parts) -> str:
    """A commented text to fill in, with what is known already."""
    symptom = "\n".join(fence_lines(clean(parts.symptom) or PASTE_HERE))
    check = f"```{parts.language or 'sh'}\n{parts.verify}\n```"
    return f"""---
# kb: lines that begin so are left out. id: the file's name (lower-case letters, digits, hyphens); left empty it is made of the title
id: {parts.id}
# kb: the folder: data, model, training, serving, logging, distributed, environment, hang
domain: {parts.domain}
tags: [{", ".join(yaml_scalar(tag) for tag in parts.tags)}]
# kb: how to read the check's result: exit zero | exit nonzero | stdout contains TEXT | stdout < 100 | version < 2.6 | true | false
# kb: (true and false are for a Python expression); without it a person judges
{f"confirms: {yaml_scalar(parts.confirms)}" if parts.confirms else "# confirms: exit zero"}
# kb: what must be there for the check to answer: linux, cuda, gpus>=2, torch>=2.6, command:NAME, module:NAME, file:*.py
{f"needs: [{', '.join(yaml_scalar(need) for need in parts.needs)}]" if parts.needs else "# needs: [linux]"}
status: {"draft" if parts.draft else "active"}
---

# {" ".join(parts.title.split()) or "What goes wrong: why"}

## Symptom

<!-- kb: what the program printed, the telling lines only; several fences are several wordings -->
{symptom}

## Root cause

<!-- kb: why it happens; the first sentence is the pattern that a table shows -->
{parts.root_cause}

## Verify

<!-- kb: one line that runs and only looks: sh, or python for one expression over the failed program's values -->
{check}

## Fix

<!-- kb: what helped -->
{parts.fix}
"""


def read_template(written: str, base: Base, domains: Sequence[Domain], taken: set[str], *, redacts: bool) -> tuple[Filled, list[Refusal]]:
    """The entry that the person wrote, and every objection to it."""
    text, address = _without_hints(written)
    replaced: tuple[str, ...] = ()
    if redacts:
        result = redact(text)
        text, replaced = result.text, tuple(preview(result))
    entry_id, domain = _address(address, text, domains, taken)
    place = place_of(base, domain if ID.fullmatch(domain) else "x-x", entry_id if ID.fullmatch(entry_id) else "x-x")
    text = _without_empty_check(text)
    reading = examine(text.encode("utf-8", "replace"), path=place, domain=domain)
    if reading.entry is None:
        errors = [problem for problem in reading.problems if problem.level == ERROR]
        unchanged = [Refusal("symptom", "is still the template's: put in what the program printed")] if PASTE_HERE in text else []
        return Filled(text, None, replaced), [*unchanged, *(Refusal("text", problem.message) for problem in errors)]
    entry = reading.entry
    objections = refusals(_parts(entry, entry_id, domain), taken, [each.name for each in domains])
    if redacts and entry.check and "[hidden:" in entry.check.command:
        objections.append(Refusal("verify", "held what only you should see; write it without, or use --no-redact"))
    return Filled(text, entry, replaced), objections


def _without_hints(written: str) -> tuple[str, dict[str, str]]:
    text = _COMMENT.sub("", written.replace("\r\n", "\n"))
    front = _FRONT.match(text)
    if front is None:
        return text, {}
    address = {found.group(1): found.group(2).strip("\"'") for found in _ADDRESS.finditer(front.group(1))}
    inner = _HINT.sub("", _ADDRESS.sub("", front.group(1)))
    inner = re.sub(r"^# (?:confirms|needs): .*\n|^tags: \[\]\n", "", inner, flags=re.MULTILINE)
    return f"---\n{inner}---{text[front.end() :]}", address


def _address(address: dict[str, str], text: str, domains: Sequence[Domain], taken: set[str]) -> tuple[str, str]:
    """Id and domain as written, or proposed from title and text where they were left empty."""
    title = re.search(r"^# (.+)$", text, re.MULTILINE)
    asked = Parts(symptom=text, title=title.group(1) if title else "", id=address.get("id", ""), domain=address.get("domain", ""))
    proposed = propose(asked, domains, taken)
    return proposed.id, proposed.domain


def _without_empty_check(text: str) -> str:
    return re.sub(r"^## Verify\s*\n+```(?:sh|python)\n\s*```\n?", "", text, flags=re.MULTILINE)


def _parts(entry: Entry, entry_id: str, domain: str) -> Parts:
    check = entry.check
    parts = Parts(
        symptom=entry.symptoms[0] if entry.symptoms else "",
        root_cause=entry.root_cause,
        title="" if entry.title == "What goes wrong: why" else entry.title,
        id=entry_id,
        domain=domain,
        fix=entry.fix,
        draft=entry.status is Status.DRAFT,
    )
    if check is None:
        return parts
    return replace(parts, verify=check.command, language=check.language, confirms=check.confirms or "", needs=check.needs)

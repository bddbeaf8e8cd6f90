"""`kb add` at a terminal: what the person is asked, in which order, and what is done with each answer."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import Any

from kbtool.cli.adding import Desk, finish
from kbtool.cli.prompting import ask, ask_key, ask_text
from kbtool.cli.render import safe, safe_line, styled, tell
from kbtool.knowledge.composing import clean
from kbtool.knowledge.layers import find_layers
from kbtool.review import adding
from kbtool.review.adding import Parts
from kbtool.verification.record import load


def ask_for_parts(desk: Desk, parts: Parts, matched: int | None) -> None:
    """The prompts: what kb proposes can be taken by Enter, what it objects to is asked again. What was typed survives Ctrl-C."""
    try:
        parts = _ask_symptom(_without_secrets(desk, parts))
        if _is_another_wording(desk, parts):
            return
        parts = _ask_all(desk, parts)
    except (KeyboardInterrupt, EOFError):
        _keep(parts)
        raise KeyboardInterrupt from None
    finish(desk, parts, matched, by_person=True)


def _keep(parts: Parts) -> None:
    from kbtool.cli.editor import keep_draft
    from kbtool.review.template import template

    if parts.symptom or parts.root_cause or parts.verify:
        path = keep_draft(template(parts), parts.id)
        tell(f"\nwhat you typed is kept in {path}", hint=f"`kb add --draft-file {path}` goes on with it")


def _without_secrets(desk: Desk, parts: Parts) -> Parts:
    """The parts as they would be saved, and a word on what was taken out, before the person goes on."""
    if not desk.redacts:
        return parts
    parts, kinds, _ = adding.redacted(parts)
    if kinds:
        desk.replaced = tuple(kinds)
        tell(f"taken out: {', '.join(kinds)}", hint="`--no-redact` keeps it")
    return parts


def _ask_symptom(parts: Parts) -> Parts:
    if parts.symptom:
        sys.stderr.write(styled("Symptom", "bold", stream=sys.stderr) + "\n")
        for line in clean(parts.symptom).split("\n"):
            sys.stderr.write(f"  {safe_line(line)}\n")
        return parts
    return replace(parts, symptom=ask_text("What did the program print? The telling lines", ""))


def _is_another_wording(desk: Desk, parts: Parts) -> bool:
    """Show the nearest entries; True when the person says it is one of them, and the wording was added there."""
    near = desk.near(parts.symptom)
    if not near:
        return False
    sys.stderr.write("\nKnown already? The nearest entries:\n")
    for place, each in enumerate(near, 1):
        sys.stderr.write(safe(f"  {place}. {each.title}  ({each.id}, {each.score:.0%})\n     {each.pattern}\n"))
    keys = "".join(str(place) for place in range(1, len(near) + 1))
    key = ask_key(f"Same fault? [{'/'.join(keys)}: add this as another wording of it · Enter: it is a new one] ", keys, default="")
    if key:
        _add_wording(desk, parts, near[int(key) - 1].id)
    return bool(key)


def _add_wording(desk: Desk, parts: Parts, entry_id: str) -> None:
    from kbtool.knowledge import headings, writing
    from kbtool.verification.record import refresh_index, writable_file

    base, entry = load(entry_id, desk.bases)
    path, _ = writable_file(entry, base)
    wording = adding.redacted(parts)[0].symptom if desk.redacts else parts.symptom
    if clean(wording) in entry.symptoms:
        tell(f"`{entry_id}` has this wording already")
        return
    writing.add_fence(path, headings.SYMPTOM, clean(wording))
    refresh_index(find_layers())
    tell(f"added as another wording of `{entry_id}`: {path}")


QUESTIONS = (
    ("title", "Title (one line)"),
    ("id", "Id"),
    ("domain", "Domain"),
    ("root_cause", "Root cause: why does it happen? Its first sentence is what lists show"),
    ("verify", "Check: one line that shows whether this cause is present"),
    ("confirms", "It confirms when (e.g. `exit zero`, `stdout < 100`; empty: a person judges)"),
    ("needs", "It needs (e.g. linux, cuda, command:nvidia-smi; empty: nothing)"),
    ("fix", "Fix: what helped"),
)
"""The parts that are asked for, in this order, and how."""

LONG_PARTS = ("symptom", "root_cause", "fix")
"""Parts that may have several lines."""


def _ask_all(desk: Desk, parts: Parts) -> Parts:
    own_id = parts.id
    parts, _ = desk.settle(parts)
    sys.stderr.write("\n")
    for name, question in QUESTIONS:
        if name == "id" and not own_id:
            parts = adding.propose(replace(parts, id=""), desk.domains, desk.taken)
        parts = _ask_one(desk, parts, name, question)
    parts, objections = desk.settle(parts)
    while objections:
        for refusal in objections:
            tell(f"kb: {refusal.part}: {refusal.message}")
        name = objections[0].part
        parts = _ask_one(desk, parts, name, dict(QUESTIONS).get(name, name))
        parts, objections = desk.settle(parts)
    return parts


def _ask_one(desk: Desk, parts: Parts, name: str, question: str) -> Parts:
    """Ask until the answer is no objection; an empty answer to a part that may be missing is fine."""
    hint = f" ({', '.join(domain.name for domain in desk.domains)})" if name == "domain" and desk.domains else ""
    while True:
        current = getattr(parts, name)
        asked = ask_text if name in LONG_PARTS else ask
        answer = asked(question + hint, ", ".join(current) if isinstance(current, tuple) else current)
        value: Any = tuple(part.strip() for part in answer.split(",") if part.strip()) if name in adding.LIST_PARTS else answer
        parts = replace(parts, **{name: value})
        if name == "domain":
            parts = _known_domain(desk, parts)
        about_it = [refusal for refusal in adding.refusals(parts, desk.taken, desk.names) if refusal.part == name]
        if not about_it:
            return parts
        for refusal in about_it:
            tell(f"kb: {refusal.message}")


def _known_domain(desk: Desk, parts: Parts) -> Parts:
    """The parts with the domain that was meant, where the one typed looks like a slip."""
    meant = adding.nearest_domain(parts.domain, desk.names)
    if meant is None or parts.new_domain:
        return parts
    key = ask_key(f"There is no `{safe_line(parts.domain)}`. [Enter: `{meant}` is meant · n: make it a new domain] ", "n", default="")
    return replace(parts, new_domain=True) if key else replace(parts, domain=meant)

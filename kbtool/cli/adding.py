"""Writing an entry down with a person or for a program: the desk it is written at, the questions, and how it ends."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NoReturn

import typer

from kbtool.cli.asking import at_terminal, show_request
from kbtool.cli.prompting import ask, ask_key, ask_text
from kbtool.cli.render import print_json, safe, safe_line, styled, tell
from kbtool.errors import ExitStatus, KbError
from kbtool.journal.journal import open_journal
from kbtool.journal.records import LastMatch
from kbtool.knowledge.composing import clean
from kbtool.knowledge.domains import read_domains
from kbtool.knowledge.layers import Base, find_layers, writable_layer
from kbtool.matching.index import Index, open_index
from kbtool.model import Domain, Entry
from kbtool.review import adding
from kbtool.review.adding import Near, Parts, Refusal
from kbtool.review.saving import Saved, made, run_once, save
from kbtool.verification.consent import Consent, Permission
from kbtool.verification.environment import remembered_fingerprint
from kbtool.verification.record import load
from kbtool.verification.run import CheckResult, request_for


@dataclass
class Desk:
    """Everything that adding an entry needs, looked up when it is needed."""

    bases: list[Base]
    base: Base
    redacts: bool
    runs: bool
    as_json: bool
    replaced: tuple[str, ...] = ()
    """Kinds of what was taken out of the texts."""

    @cached_property
    def taken(self) -> set[str]:
        return self.index.ids()

    @cached_property
    def domains(self) -> list[Domain]:
        return read_domains(self.bases)

    @cached_property
    def names(self) -> list[str]:
        """The domains that exist."""
        return [domain.name for domain in self.domains]

    @cached_property
    def index(self) -> Index:
        return open_index(self.bases)

    def near(self, symptom: str) -> list[Near]:
        return adding.near_entries(symptom, self.index)

    def _nearest(self, symptom: str) -> list[Entry]:
        """The entries that match best, read from their files; the same fault would be among them."""
        entries = []
        for near in self.near(symptom):
            with contextlib.suppress(KbError, OSError):
                entries.append(load(near.id, self.bases)[1])
        return entries

    def last_match(self) -> LastMatch | None:
        from kbtool.journal.terminal import base_key, terminal_key

        with open_journal() as journal:
            return journal.last_match(base=base_key(base.root for base in self.bases), terminal=terminal_key())

    def settle(self, parts: Parts) -> tuple[Parts, list[Refusal]]:
        """Parts as they would be saved: redacted, with proposals filled in; and every objection."""
        objections: list[Refusal] = []
        if self.redacts:
            parts, kinds, objections = adding.redacted(parts)
            self.replaced = tuple(dict.fromkeys((*self.replaced, *kinds)))
        parts = adding.propose(parts, self.domains, self.taken)
        same = adding.same_fault(parts, self._nearest(parts.symptom))
        return parts, [*objections, *adding.refusals(parts, self.taken, self.names), *([same] if same else [])]


def open_desk(*, redacts: bool, runs: bool, as_json: bool) -> Desk:
    """A desk over the layers in use. Raises KbError where no base can be written."""
    bases = find_layers()
    return Desk(bases, writable_layer(bases), redacts, runs, as_json)


def refuse(desk: Desk, objections: Sequence[Refusal], near: Sequence[Near] = ()) -> NoReturn:
    """Every objection, one line each, and exit 2."""
    if desk.as_json:
        problems = [{"field": refusal.part, "message": refusal.message} for refusal in objections]
        print_json({"schema": 1, "id": None, "problems": problems, "near": [_near_json(each) for each in near]})
    for refusal in objections:
        tell(f"kb: {refusal.part}: {refusal.message}")
    tell("nothing was written", hint="`kb add --help` lists every part")
    raise typer.Exit(ExitStatus.ERROR)


def finish(desk: Desk, parts: Parts, matched: int | None, *, by_person: bool = False) -> None:
    """Save parts that nobody objects to, and say what was done."""
    text, entry = made(adding.draft_of(parts), desk.base)
    here = remembered_fingerprint()
    unproven, _ = made(adding.draft_of(parts, met_on=here.short() if here else ""), desk.base)
    finish_text(desk, text, entry, matched, by_person=by_person, unproven=unproven)


def finish_text(desk: Desk, text: str, entry: Entry, matched: int | None, *, by_person: bool = False, unproven: str | None = None) -> None:
    """Run the check once where that is allowed, save, and say what was done. `unproven` is the text to save where no outcome tells the environment."""
    near = [each for each in desk.near(entry.symptoms[0]) if each.id != entry.id]
    consent = Consent()
    _give_consent(desk, entry, consent, by_person)
    result = run_once(entry, consent) if desk.runs else None
    saved = save(text if unproven is None or (result is not None and result.ran) else unproven, entry, desk.base, desk.bases, result, match_id=matched)
    if desk.as_json:
        print_json(_saved_json(desk, entry, saved, near))
        return
    _tell_saved(desk, entry, saved, near, consent)


def _give_consent(desk: Desk, entry: Entry, consent: Consent, by_person: bool) -> None:
    """A check that a person wrote and confirms at a terminal is allowed for them; one that came in any other way is not."""
    request = request_for(entry)
    if request is None or not by_person or not at_terminal() or consent.permission(request) is not Permission.UNKNOWN:
        return
    show_request(request)
    question = "Allow this check and run it now? [Y/n] " if desk.runs else "Allow this check to run later? [Y/n] "
    if ask_key(question, "yn", default="y") == "y":
        consent.allow(request, by="written with kb add")
    else:
        desk.runs = False


def _saved_json(desk: Desk, entry: Entry, saved: Saved, near: Sequence[Near]) -> dict[str, Any]:
    return {
        "schema": 1,
        "id": entry.id,
        "domain": entry.domain,
        "path": str(saved.path),
        "status": entry.status.value,
        "title": entry.title,
        "redacted": list(desk.replaced),
        "near": [_near_json(each) for each in near],
        "outcome": _outcome_json(saved.result, saved) if saved.result else None,
        "problems": [],
    }


def _near_json(near: Near) -> dict[str, Any]:
    return {"id": near.id, "title": near.title, "score": near.score, "strong": near.strong, "root_cause": near.pattern}


def _outcome_json(result: CheckResult, saved: Saved) -> dict[str, Any]:
    recorded = bool(saved.recorded and saved.recorded.in_entry)
    return {"verdict": result.verdict.value, "reason": result.reason, "exit_code": result.exit_code, "seconds": result.seconds, "recorded": recorded}


def _tell_saved(desk: Desk, entry: Entry, saved: Saved, near: Sequence[Near], consent: Consent) -> None:
    typer.echo(safe_line(str(saved.path)))
    if entry.domain not in desk.names:
        page = saved.path.with_name("README.md")
        tell(f"`{entry.domain}` is a new domain", hint=f"{page} says what to do first there, and by which keywords it is found")
    if desk.replaced:
        tell(f"taken out of the texts: {', '.join(desk.replaced)}", hint="`--no-redact` keeps them")
    for each in near:
        tell(f"near: {each.id}: {each.title}")
    if near:
        tell(f"hint: if it is the same fault, `kb merge {entry.id} {near[0].id}`")
    if saved.result is not None:
        tell(f"its check, here and now: {saved.result.verdict.value} ({saved.result.reason})")
    elif desk.runs and entry.check is not None:
        request = request_for(entry)
        if request is not None and consent.permission(request) is not Permission.ALLOWED:
            tell("its check was not run: nobody allowed it", hint=f"read it, then `kb allow {entry.id}` and `kb verify {entry.id}`")


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


def write_in_editor(desk: Desk, parts: Parts, draft_file: str | None, matched: int | None) -> None:
    """The commented template in the person's editor, as often as it takes; nothing written there is ever lost."""
    from pathlib import Path

    from kbtool.cli.editor import edit, editor_command, keep_draft
    from kbtool.review.template import read_template, template

    editor_command(", or give the parts as flags: `kb add --help`")
    if draft_file:
        path = Path(draft_file)
    else:
        if desk.redacts:
            parts, kinds, _ = adding.redacted(parts)
            desk.replaced = tuple(kinds)
        proposed = adding.propose(parts, desk.domains, desk.taken) if parts.symptom else parts
        path = keep_draft(template(replace(proposed, id=parts.id)), proposed.id)
    again = f"kb add --draft-file {path}"
    while True:
        written = edit(path, again)
        filled, objections = read_template(written, desk.base, desk.domains, desk.taken, redacts=desk.redacts)
        if not objections:
            break
        for refusal in objections:
            tell(f"kb: {refusal.part}: {refusal.message}")
        if not at_terminal() or ask_key("Edit again? [Y/n] ", "yn", default="y") != "y":
            tell(f"nothing was added; your text is kept in {path}", hint=f"`{again}` goes on with it")
            raise typer.Exit(ExitStatus.ERROR)
    desk.replaced = tuple(dict.fromkeys((*desk.replaced, *filled.replaced)))
    assert filled.entry is not None
    finish_text(desk, filled.text, filled.entry, matched, by_person=True)
    path.unlink(missing_ok=True)

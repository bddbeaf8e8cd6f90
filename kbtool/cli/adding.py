"""Writing an entry down with a person or for a program: the desk it is written at, the editor, and how it ends."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NoReturn

import typer

from kbtool.cli.asking import at_terminal, show_request
from kbtool.cli.prompting import ask_key
from kbtool.cli.render import print_json, safe_line, tell
from kbtool.errors import ExitStatus, KbError
from kbtool.journal.records import LastMatch
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
from kbtool.verification.targets import last_match


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
        return last_match(self.bases)

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

"""The bench a triage is worked on at: its state in the journal, what kb sees by itself, and the questions to a person."""

from __future__ import annotations

import contextlib
import datetime
import os
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from kbtool import settings
from kbtool.cli.prompting import ask, ask_key
from kbtool.cli.render import safe, styled, tell
from kbtool.errors import KbError
from kbtool.journal import history, triages
from kbtool.journal.journal import Journal, now, open_journal
from kbtool.journal.terminal import base_key, terminal_key
from kbtool.knowledge.domains import read_domains
from kbtool.knowledge.layers import Base, find_layers
from kbtool.knowledge.redaction import redact
from kbtool.model import Check, Domain, Entry, Verdict
from kbtool.quantities import plural
from kbtool.review.triage import (
    AIM_MINUTES,
    Anchor,
    Step,
    Triage,
    anchored,
    baseline,
    decided,
    from_json,
    located,
    minutes_since,
    supposed,
    to_json,
    uncommitted,
    with_checks,
)
from kbtool.verification.consent import Consent, Request
from kbtool.verification.environment import fingerprint
from kbtool.verification.run import CheckResult, verify
from kbtool.verification.shell import surroundings_of


@dataclass
class Bench:
    """An open triage and where it is kept."""

    journal: Journal
    bases: list[Base]
    domains: list[Domain]
    state: Triage
    begun: str
    number: int | None
    candidates: tuple[str, ...] = ()
    """Entries that the last match offered."""

    @property
    def domain(self) -> Domain | None:
        """The page of the domain that was located."""
        return next((domain for domain in self.domains if domain.name == self.state.domain), None)

    @property
    def minutes(self) -> float:
        """Minutes since it began."""
        return minutes_since(self.begun, datetime.datetime.now(datetime.timezone.utc))

    def keep(self, state: Triage, *, ended: str = "") -> None:
        """Take a new state over and remember it."""
        self.state = replace(state, ended=ended) if ended else state
        if self.number is not None:
            triages.keep_triage(self.journal, self.number, to_json(self.state), closed=bool(ended))

    def changes(self) -> list[str]:
        """Uncommitted changes in the working folder."""
        return uncommitted(Path.cwd())

    def advice(self) -> str:
        """What to do next, as one line."""
        state = self.state
        if state.step is Step.ANCHOR:
            return "kb triage " + " ".join(f'--{name} "…"' for name in state.anchor.missing)
        if state.step is Step.BACK:
            return 'undo your experiments if they are no longer needed, then write the anchor again: kb triage --observed "…" --condition "…"'
        if state.step is Step.LOCATE:
            return f"name the domain: kb triage --domain {'|'.join(domain.name for domain in self.domains)}"
        if state.step is Step.CONVERGED:
            return "kb add, while it is fresh; then kb triage --done"
        if state.step is Step.CLOSED:
            return "kb add, if it was solved"
        if state.open_hypothesis is not None:
            return "run its check, then kb triage --result confirmed|refuted|inconclusive"
        if self.candidates and not state.hypotheses:
            return f'kb verify {self.candidates[0]}, or kb triage --hypothesis "…" --check "…"'
        return 'kb triage --hypothesis "…" --check "…"'

    def lines(self) -> list[str]:
        """The state for a person."""
        state = self.state
        late = "" if self.minutes <= AIM_MINUTES else f", over the {AIM_MINUTES} it should take"
        lines = [f"triage, begun {plural(round(self.minutes), 'minute')} ago{late}", ""]
        for name in ("observed", "condition", "environment"):
            lines.append(f"{name + ':':<13}{getattr(state.anchor, name) or '(missing)'}")
        domain = self.domain
        if domain is not None:
            lines += ["", f"domain: {domain.name}", domain.first_action]
            lines += [f"    {line}" for line in domain.minimal_check.splitlines()]
        for each in state.hypotheses:
            lines.append(f"- {each.verdict or 'open'}: {each.text}" + (f"   [{each.check}]" if each.check else "") + (f"  {each.reason}" if each.reason else ""))
        if state.step is Step.BACK:
            lines += ["", *self._step_back()]
        return lines

    def _step_back(self) -> list[str]:
        lines = [f"stop: {self.state.refuted_in_a_row} hypotheses in a row were refuted. Is the anchor itself wrong?"]
        lines += ["  another message than the first one? a variable nobody controlled? a version or variable left out of the environment?"]
        if self.domain is not None and self.domain.go_back_when:
            lines.append(f"  {self.domain.go_back_when}")
        changes = self.changes()
        if changes:
            lines += ["uncommitted changes here, perhaps of your experiments (`git stash` puts them aside; you decide):", *(f"  {line}" for line in changes)]
        return lines


@contextlib.contextmanager
def open_bench(text: str | None, *, new: bool) -> Iterator[Bench]:
    """The triage that is open at this base and terminal, or a new one with what kb sees by itself."""
    bases = find_layers()
    key, terminal = base_key(base.root for base in bases), terminal_key()
    with open_journal() as journal:
        domains = read_domains(bases)
        last = journal.last_match(base=key, terminal=terminal)
        found = None if new or text is not None else triages.open_triage(journal, base=key, terminal=terminal)
        if found is None:
            state = _begun(journal, text if text is not None else (last.excerpt or last.message) if last else "")
            number = triages.begin_triage(journal, to_json(state), base=key, terminal=terminal)
            begun = now()
        else:
            number, begun, stored = found
            state = from_json(stored)
            state = with_checks(state, history.verdicts_after(journal, key, state.seen_verdict))
        bench = Bench(journal, bases, domains, state, begun, number, last.entries if last else ())
        bench.keep(located(state, domains))
        yield bench


def _begun(journal: Journal, text: str) -> Triage:
    """A new state: the observed lines, and the environment's baseline."""
    from kbtool.review.adding import telling_lines

    observed = " / ".join(line.strip() for line in telling_lines(text).split("\n") if line.strip())[:600] if text else ""
    here = baseline(fingerprint(surroundings_of()), os.environ)
    return Triage(anchors=(Anchor(redact(observed).text, "", redact(here).text),), seen_verdict=history.newest_verdict(journal))


def work_through(bench: Bench) -> None:
    """The four steps with a person at a terminal; leaving at any question keeps the state."""
    tell("\n".join(bench.lines()))
    try:
        while bench.state.step not in (Step.CLOSED, Step.CONVERGED):
            _one_step(bench)
    except (EOFError, KeyboardInterrupt):
        tell("\nkept: `kb triage` goes on here")
        return
    if bench.state.step is Step.CONVERGED:
        tell("converged.", hint=bench.advice())
        if ask_key("Write it down now (kb add)? [Y/n] ", "yn", default="y") == "y":
            import subprocess

            bench.keep(bench.state, ended="confirmed")
            subprocess.run([sys.executable, "-m", "kbtool", "add", "--symptom", bench.state.anchor.observed], check=False)


def _one_step(bench: Bench) -> None:
    step = bench.state.step
    if step in (Step.ANCHOR, Step.BACK):
        _ask_anchor(bench)
    elif step is Step.LOCATE:
        names = [domain.name for domain in bench.domains]
        chosen = ask(f"Which domain? {', '.join(names)}", "")
        bench.keep(located(bench.state, bench.domains, chosen) if chosen in names else bench.state)
    else:
        _ask_hypothesis(bench)


ANCHOR_QUESTIONS = (
    ("observed", "1. What is observed? The exact message, exit code, line"),
    ("condition", "2. When does it reproduce, and when does it not?"),
    ("environment", "3. The environment: versions and variables that matter"),
)


def _ask_anchor(bench: Bench) -> None:
    if bench.state.step is Step.BACK:
        for line in bench.lines()[-8:]:
            tell(line)
    told = {name: ask(question, getattr(bench.state.anchor, name)) for name, question in ANCHOR_QUESTIONS}
    try:
        bench.keep(located(anchored(bench.state, Anchor(**told)), bench.domains))
    except KbError as error:
        tell(f"kb: {error.message}", hint=error.hint)
    if bench.domain is not None:
        tell(f"\n{styled('domain: ' + bench.domain.name, 'bold', stream=sys.stderr)}\n{bench.domain.first_action}\n")


def _ask_hypothesis(bench: Bench) -> None:
    open_one = bench.state.open_hypothesis
    if open_one is None:
        text = ask("Hypothesis: what might be the cause? (empty: leave)", "")
        if not text:
            raise EOFError
        check = ask("The smallest check that can prove it wrong (one line; nothing is changed by it)", "")
        bench.keep(supposed(bench.state, text, check))
        open_one = bench.state.open_hypothesis
    assert open_one is not None
    if open_one.check and ask_key(f"Run `{safe(open_one.check)}` here now? [Y/n] ", "yn", default="y") == "y":
        result = _run(open_one.check)
        sys.stderr.write(safe(result.stdout + result.stderr) + safe(f"\n({result.reason})\n"))
    key = ask_key("It is c: confirmed · r: refuted · i: inconclusive · Enter: not yet ", "cri", default="")
    if not key:
        raise EOFError
    verdict = {"c": Verdict.CONFIRMED, "r": Verdict.REFUTED, "i": Verdict.INCONCLUSIVE}[key]
    bench.keep(decided(bench.state, verdict))


def _run(command: str) -> CheckResult:
    """Run a line that the person has just typed and asked for: permitted for this once, under the limits of every check."""
    place = settings.state_folder() / "triage" / "hypothesis.md"
    entry = Entry("hypothesis", "triage", place, "hypothesis", (), "", Check(command))
    with tempfile.TemporaryDirectory() as folder:
        consent = Consent(Path(folder))
        assert entry.check is not None
        consent.allow(Request(entry.id, entry.path, entry.check), by="typed in kb triage")
        return verify(entry, consent=consent)

"""Keeping what a check said: a row in the entry, a line in the journal, and the index brought up to date.

Where the entry can not be written the verdict stays in the journal and is offered again; it is never lost and never changes.
"""

from __future__ import annotations

import contextlib
import datetime
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from kbtool import settings
from kbtool.errors import KbError, RefusedError
from kbtool.journal.journal import open_journal
from kbtool.journal.pending import PendingVerdict, mark_recorded, pending_verdicts
from kbtool.journal.records import Keeping, Place, VerdictRecord
from kbtool.journal.terminal import base_key
from kbtool.knowledge import writing
from kbtool.knowledge.entry import read_entry
from kbtool.knowledge.layers import Base, EntryFile, locate
from kbtool.knowledge.redaction import redact
from kbtool.model import Entry, Outcome, Verdict
from kbtool.verification.comparing import kept_facts
from kbtool.verification.consent import Consent, Permission, Request
from kbtool.verification.jobs import WHEN, job_mark, same_job
from kbtool.verification.run import CheckResult


@dataclass(frozen=True)
class Recorded:
    """Where a verdict went. Neither in the entry nor a problem: the check did not run. `problem` says why the entry does not have it; `copied_to` where a shipped entry was copied for it."""

    in_entry: bool
    path: Path
    problem: str | None = None
    copied_to: Path | None = None
    refused: bool = False
    """True when the check in the file is no longer the one that ran."""


def outcome_of(result: CheckResult) -> Outcome:
    """The row for a result, now, without anything that should not be shared."""
    mark = job_mark()
    note = redact(result.reason).text + (f" ({mark})" if mark else "")
    return Outcome(
        when=datetime.datetime.now(datetime.timezone.utc).strftime(WHEN),
        verdict=result.verdict,
        check=result.check,
        exit_code=result.exit_code,
        seconds=result.seconds,
        environment=redact(result.environment.short()).text,
        note=note,
    )


def record(entry: Entry, base: Base, result: CheckResult, *, bases: Sequence[Base], match_id: int | None = None) -> Recorded:
    """Write `result` into its entry and into the journal. Never raises for a file that can not be written: the answer says so.

    A check that did not run has no outcome: only the journal notes why, and the entry stays as it was.
    """
    outcome = outcome_of(result)
    kept = _into_entry(entry, base, outcome, result.check) if result.ran else Recorded(False, entry.path)
    output = "\n".join(part for part in (result.stdout, result.stderr) if part)
    line = VerdictRecord(
        entry.id,
        result.check,
        result.verdict,
        redact(result.reason).text,
        result.exit_code,
        result.seconds,
        redact(result.environment.short()).text,
        output,
        Keeping.ENTRY if kept.in_entry else Keeping.WAITS if result.ran else Keeping.NOTHING,
    )
    with open_journal() as journal:
        journal.remember_verdict(line, base=base_key(each.root for each in bases), match_id=match_id)
        facts = kept_facts(result.environment) if result.verdict is Verdict.CONFIRMED else None
        if facts:
            journal.remember_place(Place(entry.id, outcome.when, outcome.environment, json.dumps(facts)))
    if kept.in_entry:
        refresh_index(bases)
    return kept


def _into_entry(entry: Entry, base: Base, outcome: Outcome, digest: str) -> Recorded:
    path = entry.path
    try:
        target, copied = writable_file(entry, base)
        mark = job_mark()
        writing.append_outcome(target, outcome, expect_check=digest, folds_into=same_job(mark, outcome) if mark else None)
    except RefusedError as error:
        return Recorded(False, path, error.message, refused=True)
    except KbError as error:
        return Recorded(False, path, error.message)
    except OSError as error:
        return Recorded(False, path, f"{error.filename or path}: {error.strerror or error}")
    if copied:
        _carry_consent(entry, target)
    return Recorded(True, target, copied_to=target if copied else None)


def writable_file(entry: Entry, base: Base) -> tuple[Path, bool]:
    """The file that takes the outcome: the entry's own, or for a shipped entry a copy in the user's base (True when it was made now)."""
    if base.kind != "shipped":
        return entry.path, False
    own = Base(settings.user_entries(), "user", writable=True)
    existed = (own.root / entry.domain / entry.path.name).exists()
    target = writing.copy_to(own, entry)
    return target, not existed


def _carry_consent(entry: Entry, target: Path) -> None:
    """What was allowed for the shipped entry is allowed for the copy that kb itself made of it, with the same check."""
    copy = read_entry(target, entry.domain)
    if entry.check is None or copy.check != entry.check:
        return
    consent = Consent()
    with contextlib.suppress(KbError):
        if consent.permission(Request(entry.id, entry.path, entry.check)) is Permission.ALLOWED:
            consent.allow(Request(entry.id, target, entry.check), by="copy of a shipped entry that was allowed")


def refresh_index(bases: Sequence[Base]) -> None:
    """Let the next match find the index fresh; an index that can not be written is rebuilt by whoever needs it."""
    with contextlib.suppress(OSError, KbError, ImportError):
        from kbtool.matching import index

        index.refresh(list(bases))


def pending(bases: Sequence[Base], entry_id: str | None = None) -> list[PendingVerdict]:
    """Verdicts that only the journal has and whose entry, with the same check, can be written now."""
    with open_journal() as journal:
        waiting = pending_verdicts(journal, entry_id)
    return [verdict for verdict in waiting if _is_writable(verdict, bases)]


def _is_writable(verdict: PendingVerdict, bases: Sequence[Base]) -> bool:
    try:
        base, file = locate(verdict.entry, list(bases))
        entry = read_entry(file.path, file.domain)
    except (KbError, OSError):
        return False
    same = entry.check is not None and entry.check.digest == verdict.check_digest
    return same and (base.writable or base.kind == "shipped")


def record_pending(bases: Sequence[Base], entry_id: str | None = None) -> list[tuple[PendingVerdict, Recorded]]:
    """Write the verdicts of `pending` into their entries, each with the time at which it was found."""
    done = []
    for verdict in pending(bases, entry_id):
        base, file = locate(verdict.entry, list(bases))
        kept = _into_entry(read_entry(file.path, file.domain), base, _late_outcome(verdict), verdict.check_digest)
        if kept.in_entry:
            with open_journal() as journal:
                mark_recorded(journal, verdict.row)
        done.append((verdict, kept))
    if done:
        refresh_index(bases)
    return done


def _late_outcome(verdict: PendingVerdict) -> Outcome:
    when = datetime.datetime.strptime(verdict.at, "%Y-%m-%dT%H:%M:%SZ").strftime(WHEN)
    return Outcome(when, verdict.verdict, verdict.check_digest, verdict.exit_code, verdict.seconds, verdict.environment, verdict.reason)


def load(entry_id: str, bases: Sequence[Base]) -> tuple[Base, Entry]:
    """The base and entry of an id. Raises KbError with the nearest ids for an unknown one, EntryError for a broken file."""
    base, file = locate(entry_id, list(bases))
    return base, _read(file)


def _read(file: EntryFile) -> Entry:
    try:
        return read_entry(file.path, file.domain)
    except OSError as error:
        raise KbError(f"{file.path}: can not be read: {error.strerror}", hint="check the file's permissions") from None

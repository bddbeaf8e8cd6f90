"""The journal's tables, as SQL that a person can read in Datasette, and the steps from each older version to this one.

A migration is a text of SQL; `PRAGMA user_version` counts how many have been applied. Never change one that was released: add one.
"""

from __future__ import annotations

MIGRATIONS: tuple[str, ...] = (
    """
    create table matches (              -- one row for each text that was asked
        id integer primary key,
        at text not null,               -- UTC, 2026-11-30T16:20:05Z
        base text not null,             -- which bases were asked (a digest of their places)
        source text,                    -- file name, '-' for a pipe, 'run:ID'
        type text not null,             -- exception type of the first failure, may be empty
        message text not null,          -- its message, redacted
        phase text not null,
        excerpt text not null,          -- the telling lines, redacted and capped
        domain text,                    -- the domain of the first answer, or of the decision table
        answered integer not null,      -- how many entries were offered; 0 is a miss
        first text,                     -- id of the entry offered first
        score real,
        confidence text,
        seconds real
    );
    create index matches_first on matches (first);
    create index matches_at on matches (at);

    create table candidates (           -- the entries offered for one text, best first
        match_id integer not null references matches (id) on delete cascade,
        place integer not null,         -- 1 is the best
        entry text not null,
        score real not null,
        confidence text not null,
        primary key (match_id, place)
    ) without rowid;
    create index candidates_entry on candidates (entry);

    create table last (                 -- the newest match of each base and terminal: what `kb verify` means by itself
        base text not null,
        terminal text not null,
        match_id integer not null references matches (id) on delete cascade,
        primary key (base, terminal)
    ) without rowid;

    create table verdicts (             -- one row for each check that was run
        id integer primary key,
        at text not null,
        base text not null,
        entry text not null,
        check_digest text not null,
        verdict text not null,          -- confirmed, refuted, inconclusive
        reason text not null,
        exit_code integer,
        seconds real,
        environment text not null,
        output text not null,           -- stdout and stderr, redacted and capped
        recorded integer not null,      -- 1: the entry's Outcomes table has it too; 0: it waits to be written; 2: the check did not run
        match_id integer                -- the match it decided, where there was one
    );
    create index verdicts_entry on verdicts (entry);

    create table runs (                 -- one row for each job under `kb run`
        id integer primary key,
        at text not null,
        command text not null,          -- redacted
        folder text not null,           -- where its records lie
        exit_code integer,
        signal text,
        seconds real,
        stall text,                     -- class of the last stall, if any
        match_id integer
    );
    """,
    """
    alter table matches add column shape text;   -- of a miss: its message without numbers, names and places, so that likes are counted together
    update matches set shape = substr(type || ': ' || message, 1, 200) where answered = 0;
    create index matches_missed on matches (shape, at) where answered = 0;
    create index verdicts_match on verdicts (match_id, verdict, entry) where match_id is not null;

    create table months (               -- what became of each entry, by month; kept by the triggers, also when old rows are pruned
        entry text not null,
        month text not null,            -- UTC, 2026-11
        first integer not null default 0,        -- texts that it was the first answer to
        confirmed integer not null default 0,
        refuted integer not null default 0,
        inconclusive integer not null default 0,
        primary key (entry, month)
    ) without rowid;
    insert into months (entry, month, first)
        select first, substr(at, 1, 7), count(*) from matches where first is not null group by 1, 2;
    insert into months (entry, month, confirmed, refuted, inconclusive)
        select entry, substr(at, 1, 7), sum(verdict = 'confirmed'), sum(verdict = 'refuted'), sum(verdict = 'inconclusive')
        from verdicts where true group by 1, 2
        on conflict (entry, month) do update set
            confirmed = excluded.confirmed, refuted = excluded.refuted, inconclusive = excluded.inconclusive;
    create trigger matches_counted after insert on matches when new.first is not null begin
        insert into months (entry, month, first) values (new.first, substr(new.at, 1, 7), 1)
            on conflict (entry, month) do update set first = first + 1;
    end;
    create trigger verdicts_counted after insert on verdicts begin
        insert into months (entry, month, confirmed, refuted, inconclusive)
            values (new.entry, substr(new.at, 1, 7), new.verdict = 'confirmed', new.verdict = 'refuted', new.verdict = 'inconclusive')
            on conflict (entry, month) do update set
                confirmed = confirmed + excluded.confirmed,
                refuted = refuted + excluded.refuted,
                inconclusive = inconclusive + excluded.inconclusive;
    end;

    create table decisions (            -- what a person decided in a review: the item is not brought up again before `until`
        item text primary key,          -- kind of finding and what it is about
        decision text not null,
        at text not null,
        until text not null             -- UTC day
    ) without rowid;

    create table triages (              -- one row for each failure that was worked on in four steps
        id integer primary key,
        begun text not null,
        base text not null,
        terminal text not null,
        state text not null,            -- JSON: anchors, hypotheses and their results, redacted
        closed text                     -- UTC, null while it is open
    );
    """,
    """
    create table places (               -- where the check of each entry was last confirmed by this machine's user
        entry text primary key,
        at text not null,               -- UTC to the minute, as the entry's outcome has it
        environment text not null,      -- the short fingerprint of the outcome
        facts text not null             -- JSON: everything that was known of the place, redacted
    ) without rowid;
    """,
)
"""Each text brings the journal one version further."""

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
        recorded integer not null,      -- 1: the entry's Outcomes table has it too
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
)

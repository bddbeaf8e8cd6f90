"""The index's tables: one text, used by the full build (sqlite-utils) and by updates (sqlite3) alike.

The index is a cache of the entries' files; a person may open it with sqlite-utils or Datasette. Any doubt about it ends in a new one.
"""

from __future__ import annotations

VERSION = "5"
"""Raised whenever tables, tokens or profiles change their meaning: an index of another version is built anew."""

TABLES = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE file (
    path TEXT PRIMARY KEY, size INTEGER NOT NULL, mtime_ns INTEGER NOT NULL, ctime_ns INTEGER NOT NULL, inode INTEGER NOT NULL,
    problems TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE entry (
    number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, domain TEXT NOT NULL, path TEXT NOT NULL UNIQUE, title TEXT NOT NULL, status TEXT NOT NULL,
    root_cause TEXT NOT NULL, verify TEXT NOT NULL, confirms TEXT, fix TEXT NOT NULL, check_digest TEXT NOT NULL, outcomes TEXT NOT NULL,
    applies_to TEXT NOT NULL, profile TEXT NOT NULL,
    card TEXT NOT NULL -- what review, tree and stats show of it
);
CREATE TABLE term (token TEXT PRIMARY KEY, entries INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE domain (
    name TEXT PRIMARY KEY, path TEXT NOT NULL, keywords TEXT NOT NULL, first_action TEXT NOT NULL, minimal_check TEXT NOT NULL, go_back_when TEXT NOT NULL
) WITHOUT ROWID;
"""

FULL_TEXT = """
CREATE VIRTUAL TABLE entry_fts USING fts5 (terms, tokenize="unicode61 remove_diacritics 0 tokenchars '_#-.'");
"""
"""`terms` holds an entry's tokens (module `tokens`), so that the text and the query are cut in the same way."""

WITHOUT_FULL_TEXT = """
CREATE TABLE entry_fts (terms TEXT NOT NULL);
"""
"""For a SQLite library that was built without FTS5: candidates are then found by reading every row."""


def quoted(tokens: list[str]) -> str:
    """An FTS5 query for rows that hold any of the tokens; every token is a string, so that no text can become an operator."""
    return " OR ".join('"' + token.replace('"', '""') + '"' for token in tokens)

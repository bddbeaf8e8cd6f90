"""The index's tables: one text, used by full builds and by updates alike.

The index is a cache of the entries' files; a person may open it with sqlite-utils or Datasette. Any doubt about it ends in a new one.
"""

from __future__ import annotations

VERSION = "9"
"""Raised whenever tables, tokens or profiles change their meaning: an index of another version is built anew."""

TABLES = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE file (
    path TEXT PRIMARY KEY, size INTEGER NOT NULL, mtime_ns INTEGER NOT NULL, ctime_ns INTEGER NOT NULL, inode INTEGER NOT NULL,
    problems TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE entry (
    number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, status TEXT NOT NULL,
    title_tokens INTEGER NOT NULL, salient_tokens INTEGER NOT NULL, symptom_tokens INTEGER NOT NULL, -- how many there are
    domain TEXT NOT NULL, path TEXT NOT NULL UNIQUE, title TEXT NOT NULL, root_cause TEXT NOT NULL, verify TEXT NOT NULL, confirms TEXT, fix TEXT NOT NULL,
    outcomes TEXT NOT NULL, applies_to TEXT NOT NULL, profile TEXT NOT NULL
);
CREATE TABLE card (number INTEGER PRIMARY KEY, card TEXT NOT NULL); -- what review, tree and stats show of an entry
CREATE TABLE term (
    token TEXT PRIMARY KEY, entries INTEGER NOT NULL,
    postings BLOB NOT NULL -- a little-endian unsigned 32-bit integer an entry: 8 * number, + 1 in a symptom, + 2 in title, cause, fix or tags, + 4 in the title
) WITHOUT ROWID;
CREATE TABLE domain (
    name TEXT PRIMARY KEY, path TEXT NOT NULL, keywords TEXT NOT NULL, first_action TEXT NOT NULL, minimal_check TEXT NOT NULL, go_back_when TEXT NOT NULL
) WITHOUT ROWID;
"""

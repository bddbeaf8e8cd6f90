"""What happened: matches, misses, verdicts, runs, triage, in one SQLite file of the state folder. May import knowledge and below."""

"""Entries that run by themselves: rules for changed files, the commit hook, the pytest plugin. May import verification and below."""

"""Looking at the base as a whole: the monthly review, the fault tree, triage. May import verification and everything below."""

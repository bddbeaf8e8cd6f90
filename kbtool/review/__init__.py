"""Looking at the base as a whole: the monthly review, the fault tree, triage. May import guards and everything below."""

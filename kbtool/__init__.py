"""kb: a knowledge base of deep-learning faults that verifies causes on this machine and remembers the outcome.

Layers, top to bottom; a package imports from those below it only (held by `tests/test_house.py`):

    cli            one file per command; the only place that prints, prompts or exits
    supervision    kb run, kb probe: child, watch, stall verdict, stacks, startup record
    review         monthly review, fault tree, triage
    verification   consent, process, environment, verdict
    matching       stream, report, tokens, candidates, score, confidence
    journal        what happened: matches, misses, verdicts, runs
    knowledge      entry file and Entry, domain pages, layers, lint, redaction
    model errors durable settings quantities
"""

__version__ = "0.1.0"


def __getattr__(name: str) -> object:
    """`kbtool.check` on first use: importing kbtool alone stays free of cost."""
    if name == "check":
        from kbtool.verification.values import check

        return check
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

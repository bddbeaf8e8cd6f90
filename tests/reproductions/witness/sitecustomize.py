"""Evaluates a Python check in the process that failed, without a change to its script or its output.

Active only where the variable KB_WITNESS holds an expression. After an uncaught exception the innermost frame that defines all names of the
expression gives the values; after a healthy end the script's own variables do. The verdict goes to the file that KB_WITNESS_TO names.
"""

import atexit
import os
import sys

_frames = []


def _testify():
    """Write the verdict of the expression, or why there is none."""
    import __main__
    from kbtool.model import Check
    from kbtool.verification.expressions import free_names
    from kbtool.verification.run import evaluate_check

    confirms, _, expression = os.environ["KB_WITNESS"].partition(" ")
    names = free_names(expression)
    scopes = [frame for frame in reversed(_frames) if names <= frame.keys()] or [vars(__main__)]
    values = {name: scopes[0][name] for name in names if name in scopes[0]}
    verdict = evaluate_check("this", Check(expression, "python", confirms), values)
    with open(os.environ["KB_WITNESS_TO"], "w") as file:
        file.write(f"{verdict.verdict.value} {verdict.reason}")


def _remember(kind, error, traceback):
    """The excepthook: print as ever, and keep the frames' values for the end."""
    sys.__excepthook__(kind, error, traceback)
    while traceback:
        _frames.append(dict(traceback.tb_frame.f_locals))
        traceback = traceback.tb_next


if os.environ.get("KB_WITNESS") and sys.argv[:1] != ["-c"]:
    sys.excepthook = _remember
    atexit.register(_testify)

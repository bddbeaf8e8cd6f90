"""Found by the `site` module of every Python that a job under `kb run` starts: begins the startup record, then steps aside.

It must parse on any Python (2.7 too), leaves `sys.path` as it would have been, and hands over to the sitecustomize that it hides.
"""

import os
import sys

KNOWN = ((3, 8), (3, 15))
"""The record is written from the first of these versions up to, not including, the second; on all others nothing is touched."""


def _record(folder):
    # type: (str) -> None
    if not (KNOWN[0] <= sys.version_info[:2] < KNOWN[1]) or sys.implementation.name != "cpython":
        return
    if not os.environ.get("KB_RUN_FOLDER"):
        return
    sys.path.insert(0, folder)
    unwritten, sys.dont_write_bytecode = (
        sys.dont_write_bytecode,
        False,
    )  # this folder is kb's own; compiling at each start would cost more than the rest
    try:
        import kb_startup_record

        kb_startup_record.begin(os.environ["KB_RUN_FOLDER"])
    finally:
        sys.dont_write_bytecode = unwritten
        sys.path.remove(folder)


def _hand_over():
    # type: () -> None
    """Run the sitecustomize that would have been found without kb; what it raises is raised."""
    if sys.version_info[0] == 2:
        import imp

        try:
            found = imp.find_module("sitecustomize")
        except ImportError:
            return
        imp.load_module("sitecustomize", *found)
        return
    import _frozen_importlib
    import _frozen_importlib_external

    spec = _frozen_importlib_external.PathFinder.find_spec("sitecustomize")
    if spec is None or spec.loader is None:
        return
    module = _frozen_importlib.module_from_spec(spec)
    sys.modules["sitecustomize"] = module
    spec.loader.exec_module(module)


_here = os.path.dirname(os.path.abspath(__file__))
sys.path[:] = [_folder for _folder in sys.path if os.path.abspath(_folder or os.curdir) != _here]
try:
    _record(_here)
except Exception:  # the job matters, the record does not
    pass
_hand_over()

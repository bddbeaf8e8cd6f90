"""A module starts a thread while it is imported and waits for it; the thread needs the module, whose import is not over."""

import faulthandler

faulthandler.dump_traceback_later(4, exit=True)

import pathlib

pathlib.Path("features.py").write_text("""\
import threading


def warm_up():
    from features import SIZE
    print("warm", SIZE)


thread = threading.Thread(target=warm_up, daemon=True)
thread.start()
thread.join()
SIZE = 8
""")

import features

print("ready", features.SIZE)

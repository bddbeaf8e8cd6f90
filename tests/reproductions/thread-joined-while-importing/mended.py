"""The same; the module defines, and the program starts the thread after the import."""

import faulthandler

faulthandler.dump_traceback_later(60, exit=True)

import pathlib

pathlib.Path("features.py").write_text("""\
import threading


def warm_up():
    from features import SIZE
    print("warm", SIZE)


def start():
    thread = threading.Thread(target=warm_up, daemon=True)
    thread.start()
    thread.join()


SIZE = 8
""")

import features

features.start()
print("ready", features.SIZE)

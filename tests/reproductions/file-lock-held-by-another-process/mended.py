"""The same; the other process has ended, and the kernel has taken its lock back."""

import faulthandler
import os

from filelock import FileLock

os.makedirs("cache", exist_ok=True)
faulthandler.dump_traceback_later(60, exit=True)
with FileLock("cache/dataset.lock"):
    print("cache is mine")

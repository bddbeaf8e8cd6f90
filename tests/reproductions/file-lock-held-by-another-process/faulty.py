"""Another process holds the lock of the cache and does not let go."""

import faulthandler
import os

from filelock import FileLock

os.makedirs("cache", exist_ok=True)
faulthandler.dump_traceback_later(4, exit=True)
with FileLock("cache/dataset.lock"):
    print("cache is mine")

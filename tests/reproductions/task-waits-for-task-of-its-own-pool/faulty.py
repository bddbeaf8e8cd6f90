"""Every thread of the pool runs a task that waits for another task, which no thread is left to run."""

import faulthandler
from concurrent.futures import ThreadPoolExecutor

faulthandler.dump_traceback_later(4, exit=True)
pool = ThreadPoolExecutor(max_workers=1)


def decode(name: str) -> str:
    return name.upper()


def load(name: str) -> str:
    return pool.submit(decode, name).result()


print(pool.submit(load, "cat.png").result())

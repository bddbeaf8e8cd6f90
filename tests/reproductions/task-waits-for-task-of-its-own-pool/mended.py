"""The same; a task calls the next step instead of submitting it."""

import faulthandler
from concurrent.futures import ThreadPoolExecutor

faulthandler.dump_traceback_later(60, exit=True)
pool = ThreadPoolExecutor(max_workers=1)


def decode(name: str) -> str:
    return name.upper()


def load(name: str) -> str:
    return decode(name)


print(pool.submit(load, "cat.png").result())

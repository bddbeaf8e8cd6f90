"""A pool of spawned workers at module level: every worker imports the script, and so starts a pool of its own."""

import faulthandler
import multiprocessing

faulthandler.dump_traceback_later(6, exit=True)


def square(x: int) -> int:
    return x * x


pool = multiprocessing.get_context("spawn").Pool(1)
print(pool.map(square, range(4)))

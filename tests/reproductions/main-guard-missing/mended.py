"""The same behind the guard: a worker imports the functions and nothing else happens."""

import faulthandler
import multiprocessing

faulthandler.dump_traceback_later(60, exit=True)


def square(x: int) -> int:
    return x * x


if __name__ == "__main__":
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        print(pool.map(square, range(4)))

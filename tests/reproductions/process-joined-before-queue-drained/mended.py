"""The same; the parent takes the result first."""

import faulthandler
import multiprocessing


def work(results) -> None:
    faulthandler.dump_traceback_later(60, exit=True)
    results.put(b"x" * 2**20)


if __name__ == "__main__":
    results = multiprocessing.Queue()
    child = multiprocessing.Process(target=work, args=[results], daemon=True)
    child.start()
    faulthandler.dump_traceback_later(60, exit=True)
    print(len(results.get()))
    child.join()

"""The parent waits for the child to end, the child waits for somebody to take its result out of the pipe."""

import faulthandler
import multiprocessing


def work(results) -> None:
    faulthandler.dump_traceback_later(6, exit=True)
    results.put(b"x" * 2**20)


if __name__ == "__main__":
    results = multiprocessing.Queue()
    child = multiprocessing.Process(target=work, args=[results], daemon=True)
    child.start()
    faulthandler.dump_traceback_later(4, exit=True)
    child.join()
    print(len(results.get()))

"""The same; the child is started afresh and has a lock of its own."""

import faulthandler
import multiprocessing
import queue
import threading

tasks: queue.Queue = queue.Queue()
held, may_release = threading.Event(), threading.Event()


def prefetch() -> None:
    with tasks.mutex:  # as inside put and get
        held.set()
        may_release.wait()


def work() -> None:
    faulthandler.dump_traceback_later(60, exit=True)  # what a person would see who looks into the silent child
    tasks.put("sample")
    print("child works on", tasks.get())


if __name__ == "__main__":
    threading.Thread(target=prefetch).start()
    held.wait()
    child = multiprocessing.get_context("spawn").Process(target=work)
    child.start()
    may_release.set()
    child.join()
    print("child ended with", child.exitcode)

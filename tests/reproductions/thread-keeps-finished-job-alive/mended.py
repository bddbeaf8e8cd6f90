"""The same thread as a daemon: it ends with the program."""

import faulthandler
import threading
import time

faulthandler.dump_traceback_later(60, exit=True)


def report() -> None:
    while True:
        time.sleep(0.1)


threading.Thread(target=report, daemon=True, name="reporter").start()
print("training finished")

"""Training is done, and a thread that is no daemon goes on for ever: the interpreter waits for it before it ends."""

import faulthandler
import threading
import time

faulthandler.dump_traceback_later(4, exit=True)


def report() -> None:
    while True:
        time.sleep(0.1)


threading.Thread(target=report, name="reporter").start()
print("training finished")

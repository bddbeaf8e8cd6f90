"""More threads than the limit on processes of this user allows; root has no such limit and steps down first."""

import os
import threading

if os.getuid() == 0:
    os.setuid(65534)
done = threading.Event()
threads = [threading.Thread(target=done.wait) for _ in range(64)]
try:
    for thread in threads:
        thread.start()
finally:
    done.set()
print(len(threads), "threads ran")

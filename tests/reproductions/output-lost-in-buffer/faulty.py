"""What is printed into a pipe or file waits in a buffer of 8 KiB; the job is killed, and the buffer with it."""

import os
import signal

print("epoch 1: loss 0.71")
os.kill(os.getpid(), signal.SIGKILL)  # as the kernel or a scheduler ends it

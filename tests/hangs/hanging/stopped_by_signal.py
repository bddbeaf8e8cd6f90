import os, signal
print("working", flush=True)
os.kill(os.getpid(), signal.SIGSTOP)

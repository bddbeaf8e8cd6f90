"""The job was started with nohup; the terminal closes, and its hang-up signal reaches torchrun all the same."""
import os
import signal
import sys
import time

if "RANK" not in os.environ:
    os.execvp("nohup", ["nohup", sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", "1", "--standalone", __file__])
os.kill(os.getppid(), signal.SIGHUP)  # what the kernel sends to the session when its terminal goes away
time.sleep(60)

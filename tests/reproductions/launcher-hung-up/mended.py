"""The same signal, which the launcher was told not to handle: nohup's word holds."""
import os
import signal
import sys
import time

if "RANK" not in os.environ:
    os.execvp("nohup", ["nohup", sys.executable, "-m", "torch.distributed.run", "--signals-to-handle", "SIGTERM,SIGINT,SIGQUIT", "--nproc-per-node", "1", "--standalone", __file__])
os.kill(os.getppid(), signal.SIGHUP)
time.sleep(1)
print("trained to the end")

import os, subprocess, sys, tempfile
import filelock
path = os.path.join(tempfile.mkdtemp(), "hub.lock")
holder = subprocess.Popen([sys.executable, "-c", f"import filelock, time\nlock = filelock.FileLock({path!r})\nlock.acquire()\nprint('held', flush=True)\ntime.sleep(1000)"], stdout=subprocess.PIPE)
holder.stdout.readline()

def download_model():
    with filelock.FileLock(path):
        print("never")

download_model()

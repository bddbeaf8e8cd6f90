import fcntl, os, subprocess, sys, tempfile
path = os.path.join(tempfile.mkdtemp(), "cache.lock")
holder = subprocess.Popen([sys.executable, "-c", f"import fcntl, time\nf = open({path!r}, 'w')\nfcntl.flock(f, 2)\nprint('held', flush=True)\ntime.sleep(1000)"], stdout=subprocess.PIPE)
holder.stdout.readline()

def build_cache():
    with open(path, "w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)

build_cache()

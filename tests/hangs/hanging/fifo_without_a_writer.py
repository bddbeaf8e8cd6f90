import os, tempfile
path = os.path.join(tempfile.mkdtemp(), "samples.fifo")
os.mkfifo(path)

def open_samples():
    return open(path)

open_samples()

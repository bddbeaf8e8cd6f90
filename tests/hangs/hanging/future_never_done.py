import concurrent.futures, threading
pool = concurrent.futures.ThreadPoolExecutor(1)
gate = threading.Event()

def preprocess():
    gate.wait()

def collect_results():
    return pool.submit(preprocess).result()

collect_results()

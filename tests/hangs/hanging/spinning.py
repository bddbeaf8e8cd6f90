class Flag:
    ready = False

def wait_for_worker():
    while not Flag.ready:
        pass

wait_for_worker()

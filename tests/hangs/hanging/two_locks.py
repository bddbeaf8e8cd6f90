import threading, time
first, second = threading.Lock(), threading.Lock()

def take(one, other):
    with one:
        time.sleep(0.2)
        with other:
            pass

threads = [threading.Thread(target=take, args=pair) for pair in ((first, second), (second, first))]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()

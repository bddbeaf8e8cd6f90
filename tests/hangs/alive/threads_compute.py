import threading, time

def compress(end):
    import zlib
    while time.time() < end:
        for level in (1, 6, 9):
            zlib.compress(bytes(range(256)) * 800, level)

threads = [threading.Thread(target=compress, args=(time.time() + 7,)) for _ in range(2)]
for thread in threads: thread.start()
for thread in threads: thread.join()

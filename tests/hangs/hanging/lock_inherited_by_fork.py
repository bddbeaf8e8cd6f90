import os, threading, time
log_lock = threading.Lock()

def logger():
    with log_lock:
        time.sleep(1000)

threading.Thread(target=logger, daemon=True).start()
time.sleep(0.2)
child = os.fork()

def write_log_in_child():
    with log_lock:
        print("never")

if child == 0:
    write_log_in_child()
    os._exit(0)
os.waitpid(child, 0)

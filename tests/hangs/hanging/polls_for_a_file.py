import os, time

def wait_for_checkpoint():
    while not os.path.exists("/nonexistent/checkpoint.done"):
        time.sleep(0.2)

wait_for_checkpoint()

import time
for pause in (2, 2, 4.5, 2):
    print("evaluating", flush=True)
    time.sleep(pause)

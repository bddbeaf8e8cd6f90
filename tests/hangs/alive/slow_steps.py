import time
for step in range(4):
    time.sleep(2)
    print(f"step {step} loss {1 / (step + 1):.3f}", flush=True)

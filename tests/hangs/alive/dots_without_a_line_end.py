import sys, time
for _ in range(6):
    sys.stdout.write(".")
    sys.stdout.flush()
    time.sleep(1)

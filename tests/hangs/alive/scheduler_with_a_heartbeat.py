import tempfile, time
with tempfile.NamedTemporaryFile("w") as heartbeat:
    for beat in range(14):
        heartbeat.write(f"{time.time()}\n")
        heartbeat.flush()
        time.sleep(0.5)

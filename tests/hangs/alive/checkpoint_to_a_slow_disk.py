import os, tempfile, time
with tempfile.NamedTemporaryFile() as file:
    for _ in range(14):
        file.write(b"x" * 20_000)
        file.flush()
        os.fsync(file.fileno())
        time.sleep(0.5)

import os, tempfile, time
with tempfile.TemporaryFile(buffering=0) as file:
    file.write(os.urandom(400_000))
    for _ in range(24):
        file.seek(0)
        file.read()
        time.sleep(0.25)

"""One answer takes longer than gunicorn lets a worker be silent, and the worker is killed in the middle of it."""

import shlex
import subprocess
import threading
import time
import urllib.request

COMMAND = "gunicorn --timeout 1 --bind 127.0.0.1:18491 train:app"


def app(environ, start_response):
    time.sleep(4)  # stands for a long generation
    start_response("200 OK", [])
    print("answered", flush=True)
    return [b"0.5"]


def ask(server: subprocess.Popen) -> None:
    """One request, as soon as the server listens."""
    while server.poll() is None:
        try:
            return urllib.request.urlopen("http://127.0.0.1:18491/", timeout=30).close()
        except OSError:
            time.sleep(0.1)


if __name__ == "__main__":
    server = subprocess.Popen(shlex.split(COMMAND), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    threading.Thread(target=ask, args=[server], daemon=True).start()
    for line in server.stdout:
        print(line, end="", flush=True)
        if "WORKER TIMEOUT" in line or "answered" in line:
            break
    server.terminate()
    server.stdout.read()
    server.wait()

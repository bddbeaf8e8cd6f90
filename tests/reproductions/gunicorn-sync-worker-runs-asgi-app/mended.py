"""The same application behind a worker class that speaks ASGI."""

import shlex
import subprocess
import urllib.error
import urllib.request

from fastapi import FastAPI

COMMAND = "gunicorn --worker-class asgi --bind 127.0.0.1:18490 train:app"

app = FastAPI()


@app.get("/health")
def health():
    return {"ok": True}


def ask(server: subprocess.Popen) -> int:
    """The status of one request, as soon as the server answers at all."""
    while server.poll() is None:
        try:
            return urllib.request.urlopen("http://127.0.0.1:18490/health", timeout=30).status
        except urllib.error.HTTPError as error:
            return error.code
        except OSError:
            pass
    raise SystemExit("the server ended")


if __name__ == "__main__":
    server = subprocess.Popen(shlex.split(COMMAND))
    status = ask(server)
    server.terminate()
    server.wait()
    raise SystemExit(None if status == 200 else f"HTTP status {status}")

"""The same route as a plain function: the framework runs it in a thread of its pool."""

import threading
import time
import urllib.request

import uvicorn
from fastapi import FastAPI

app = FastAPI()


class Model:
    def predict(self) -> float:
        time.sleep(3)  # stands for inference that holds the thread
        return 0.5


model = Model()


@app.get("/health")
async def health():
    return {"ok": True}


@app.get("/predict")
def predict():
    return {"score": model.predict()}


def get(path: str, seconds: float) -> bytes:
    return urllib.request.urlopen(f"http://127.0.0.1:18493{path}", timeout=seconds).read()


if __name__ == "__main__":
    server = uvicorn.Server(uvicorn.Config(app, host="127.0.0.1", port=18493, log_level="warning"))
    threading.Thread(target=server.run, daemon=True).start()
    while not server.started:
        time.sleep(0.01)
    busy = threading.Thread(target=get, args=["/predict", 30])
    busy.start()
    time.sleep(0.5)
    print("health:", get("/health", 1))
    busy.join()

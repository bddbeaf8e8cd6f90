"""A route queues a background task, then raises: the task never runs."""
from fastapi import BackgroundTasks, FastAPI, HTTPException
from fastapi.testclient import TestClient

app = FastAPI()


def record(name: str) -> None:
    print(f"recorded {name}")


@app.post("/predict")
def predict(tasks: BackgroundTasks):
    tasks.add_task(record, "request")
    raise HTTPException(503, "model is not loaded")


answer = TestClient(app).post("/predict")
print(answer.status_code, answer.text)

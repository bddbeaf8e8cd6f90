"""The failing answer is returned with its background task instead of raised."""
from fastapi import BackgroundTasks, FastAPI
from fastapi.responses import JSONResponse
from fastapi.testclient import TestClient

app = FastAPI()


def record(name: str) -> None:
    print(f"recorded {name}")


@app.post("/predict")
def predict(tasks: BackgroundTasks):
    tasks.add_task(record, "request")
    return JSONResponse({"detail": "model is not loaded"}, 503, background=tasks)


answer = TestClient(app).post("/predict")
print(answer.status_code, answer.text)

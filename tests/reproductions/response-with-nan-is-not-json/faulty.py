"""A route returns a score that is NaN."""

from fastapi import FastAPI
from fastapi.testclient import TestClient

app = FastAPI()


@app.get("/predict")
def predict():
    score = float("nan")  # what the model gave for an empty input
    return {"score": score}


print(TestClient(app).get("/predict").text)

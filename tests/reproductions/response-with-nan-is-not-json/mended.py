"""The same route says null where there is no score."""

import math

from fastapi import FastAPI
from fastapi.testclient import TestClient

app = FastAPI()


@app.get("/predict")
def predict():
    score = float("nan")  # what the model gave for an empty input
    return {"score": score if math.isfinite(score) else None}


print(TestClient(app).get("/predict").text)
content = predict()  # so the framework calls it, and the check with it

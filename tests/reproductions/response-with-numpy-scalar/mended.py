"""The same route converts it to a number of Python."""

import numpy
from fastapi import FastAPI
from fastapi.testclient import TestClient

app = FastAPI()


@app.get("/predict")
def predict():
    score = numpy.float32(0.25)
    return {"score": float(score)}


print(TestClient(app).get("/predict").text)
obj = predict()["score"]  # so the framework calls it, and the check with it

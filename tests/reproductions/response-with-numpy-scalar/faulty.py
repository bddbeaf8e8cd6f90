"""A route returns the model's number as NumPy gave it."""

import numpy
from fastapi import FastAPI
from fastapi.testclient import TestClient

app = FastAPI()


@app.get("/predict")
def predict():
    score = numpy.float32(0.25)
    return {"score": score}


print(TestClient(app).get("/predict").text)

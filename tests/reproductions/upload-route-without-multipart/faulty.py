"""A route takes an uploaded file, and the parser for such bodies is not installed."""

from fastapi import FastAPI, UploadFile

app = FastAPI()


@app.post("/predict")
def predict(image: UploadFile):
    return {"bytes": image.size}


print(len(app.routes))

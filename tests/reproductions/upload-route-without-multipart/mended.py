"""The same route in an environment that has the parser."""

from fastapi import FastAPI, UploadFile

app = FastAPI()


@app.post("/predict")
def predict(image: UploadFile):
    return {"bytes": image.size}


print(len(app.routes))

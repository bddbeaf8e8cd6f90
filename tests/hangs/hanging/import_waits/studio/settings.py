import os

MODEL_STORE = os.environ["STUDIO_MODEL_STORE"]

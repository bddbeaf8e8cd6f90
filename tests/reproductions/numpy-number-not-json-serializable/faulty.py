"""Metrics with a NumPy number are written as JSON."""
import json
import numpy

print(json.dumps({"accuracy": numpy.float32(0.5)}))

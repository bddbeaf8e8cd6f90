"""Numbers are turned into Python's own on the way."""
import json
import numpy

o = numpy.float32(0.5).item()
print(json.dumps({"accuracy": o}))

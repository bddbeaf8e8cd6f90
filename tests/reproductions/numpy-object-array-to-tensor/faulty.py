"""Rows of different lengths make an array of objects, which no tensor can hold."""
import numpy
import torch

rows = numpy.array([[1, 2, 3], [4, 5]], dtype=object)
print(torch.from_numpy(rows))

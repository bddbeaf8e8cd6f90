"""Predictions on the GPU are handed to a NumPy function."""

import numpy
import torch

predictions = torch.tensor([0.2, 0.9], device="cuda")
print(numpy.asarray(predictions).round())

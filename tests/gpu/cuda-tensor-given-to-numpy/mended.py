"""The same, copied to the host first."""

import numpy
import torch

predictions = torch.tensor([0.2, 0.9], device="cuda")
print(numpy.asarray(predictions.cpu()).round())

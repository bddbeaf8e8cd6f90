"""NumPy's default of 64 bit reaches 32-bit weights."""
import numpy
import torch
from torch import nn

features = torch.from_numpy(numpy.random.rand(4, 8))
print(nn.Linear(8, 2)(features).shape)

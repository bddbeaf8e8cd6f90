"""The data is converted where it enters."""
import numpy
import torch
from torch import nn

features = torch.from_numpy(numpy.random.rand(4, 8)).float()
self = nn.Linear(8, 2)
print(self(features).shape)
input = features

"""The images get the type of the weights."""
import torch
from torch import nn

self = nn.Conv2d(3, 8, 3).half()
input = torch.zeros(1, 3, 8, 8).to(self.weight.dtype)
weight = self.weight
print(self(input).shape)

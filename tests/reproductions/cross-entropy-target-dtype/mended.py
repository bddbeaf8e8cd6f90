"""Class numbers are integers of 64 bit."""
import torch
from torch import nn

target = torch.tensor([0.0, 1.0, 2.0]).long()
input = torch.randn(3, 3)
print(nn.functional.cross_entropy(input, target).item())

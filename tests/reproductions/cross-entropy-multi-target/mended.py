"""One class number for each sample."""
import torch
from torch import nn

target = torch.tensor([[0], [1], [2]]).squeeze(1)
input = torch.randn(3, 3)
print(nn.functional.cross_entropy(input, target).item())

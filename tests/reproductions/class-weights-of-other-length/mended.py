"""One weight for each class."""
import torch
from torch import nn

weight = torch.tensor([1.0, 2.0, 2.0, 1.0])
input = torch.randn(5, 4)
print(nn.CrossEntropyLoss(weight=weight)(input, torch.tensor([0, 1, 2, 3, 0])).item())

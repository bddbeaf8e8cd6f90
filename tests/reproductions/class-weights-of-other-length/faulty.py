"""Weights for three classes, scores for four."""
import torch
from torch import nn

criterion = nn.CrossEntropyLoss(weight=torch.tensor([1.0, 2.0, 2.0]))
print(criterion(torch.randn(5, 4), torch.tensor([0, 1, 2, 3, 0])).item())

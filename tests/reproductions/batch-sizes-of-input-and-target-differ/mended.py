"""Flattened from the second dimension on, the batch stays what it is."""
import torch
from torch import nn

features = torch.randn(8, 4, 6, 6).flatten(1)
input, target = nn.Linear(144, 3)(features), torch.zeros(8, dtype=torch.long)
print(nn.functional.cross_entropy(input, target).item())

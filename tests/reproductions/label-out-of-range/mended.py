"""Labels are shifted to start at 0."""
import torch
from torch import nn

model = nn.Linear(16, 10)
labels = torch.arange(1, 11) - 1
input, target, ignore_index = model(torch.randn(10, 16)), labels, -100
loss = nn.functional.cross_entropy(input, target)
print(loss.item())

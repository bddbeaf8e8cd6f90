"""Labels are shifted to start at 0."""
import torch
from torch import nn

model = nn.Linear(16, 10)
labels = torch.arange(1, 11) - 1
input, target = model(torch.randn(10, 16)), labels
loss = nn.functional.cross_entropy(input, target)
print(loss.item())

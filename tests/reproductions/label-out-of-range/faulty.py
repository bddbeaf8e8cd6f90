"""Labels are numbered from 1, the model has classes 0 to 9."""
import torch
from torch import nn

model = nn.Linear(16, 10)
labels = torch.arange(1, 11)
loss = nn.functional.cross_entropy(model(torch.randn(10, 16)), labels)
print(loss.item())

"""The loss is computed from the scores."""
import torch
from torch import nn

model = nn.Linear(8, 3)
labels = torch.tensor([0, 1, 2])
loss = nn.functional.cross_entropy(model(torch.randn(3, 8)), labels)
loss.backward()
self = loss
print(loss.item())

"""The values are averaged."""
import torch
from torch import nn

model = nn.Linear(4, 2)
loss = nn.functional.cross_entropy(model(torch.randn(3, 4)), torch.tensor([0, 1, 1]), reduction="none").mean()
loss.backward()
out = loss
print(loss.item())

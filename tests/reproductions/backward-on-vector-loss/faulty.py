"""The loss keeps one value for each sample."""
import torch
from torch import nn

model = nn.Linear(4, 2)
loss = nn.functional.cross_entropy(model(torch.randn(3, 4)), torch.tensor([0, 1, 1]), reduction="none")
loss.backward()

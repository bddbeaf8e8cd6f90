"""A model's output is turned into an array while it still carries its graph."""
import torch
from torch import nn

scores = nn.Linear(4, 2)(torch.zeros(1, 4))
print(scores.numpy())

"""Dropout is still active at prediction."""
import torch
from torch import nn

model = nn.Sequential(nn.Linear(8, 64), nn.Dropout(0.5), nn.Linear(64, 1))
x = torch.ones(1, 8)
print("same input, two predictions:", model(x).item(), model(x).item())

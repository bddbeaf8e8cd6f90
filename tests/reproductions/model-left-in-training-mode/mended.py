"""The model is switched to evaluation."""
import torch
from torch import nn

model = nn.Sequential(nn.Linear(8, 64), nn.Dropout(0.5), nn.Linear(64, 1)).eval()
x = torch.ones(1, 8)
first, second = model(x).item(), model(x).item()
assert first == second
print("equal predictions", first)

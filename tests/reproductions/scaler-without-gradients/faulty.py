"""The optimizer holds parameters that no loss ever touched."""
import torch
from torch import nn

used, unused = nn.Linear(4, 2), nn.Linear(4, 2)
optimizer, scaler = torch.optim.SGD(unused.parameters(), lr=0.1), torch.amp.GradScaler("cpu")
scaler.scale(used(torch.randn(3, 4)).sum()).backward()
scaler.step(optimizer)

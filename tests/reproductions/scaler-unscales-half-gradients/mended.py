"""Weights stay in 32 bit, autocast does the rest."""
import torch
from torch import nn

model = nn.Linear(4, 2)
optimizer, scaler = torch.optim.SGD(model.parameters(), lr=0.1), torch.amp.GradScaler("cpu")
with torch.autocast("cpu", torch.float16):
    loss = model(torch.randn(3, 4)).sum()
scaler.scale(loss).backward()
scaler.step(optimizer)
param = model.weight

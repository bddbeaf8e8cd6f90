"""The model itself is half precision, and a gradient scaler is used on top."""
import torch
from torch import nn

model = nn.Linear(4, 2).half()
optimizer, scaler = torch.optim.SGD(model.parameters(), lr=0.1), torch.amp.GradScaler("cpu")
scaler.scale(model(torch.randn(3, 4).half()).sum()).backward()
scaler.step(optimizer)

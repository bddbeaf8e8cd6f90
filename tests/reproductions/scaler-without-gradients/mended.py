"""The optimizer holds the parameters of the model that is trained."""
import torch
from torch import nn

used = nn.Linear(4, 2)
optimizer, scaler = torch.optim.SGD(used.parameters(), lr=0.1), torch.amp.GradScaler("cpu")
scaler.scale(used(torch.randn(3, 4)).sum()).backward()
scaler.step(optimizer)

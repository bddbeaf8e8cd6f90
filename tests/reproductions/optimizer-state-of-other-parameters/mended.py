"""The same parameters are given as when it was saved."""
import torch
from torch import nn

model = nn.Linear(4, 2)
torch.save(torch.optim.Adam(model.parameters()).state_dict(), "optimizer.pt")
self = optimizer = torch.optim.Adam(model.parameters())
state_dict = torch.load("optimizer.pt")
optimizer.load_state_dict(state_dict)

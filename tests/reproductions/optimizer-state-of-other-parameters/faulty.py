"""An optimizer's state is loaded into one that trains fewer parameters."""
import torch
from torch import nn

model = nn.Linear(4, 2)
torch.save(torch.optim.Adam(model.parameters()).state_dict(), "optimizer.pt")
model.bias.requires_grad = False
optimizer = torch.optim.Adam(p for p in model.parameters() if p.requires_grad)
optimizer.load_state_dict(torch.load("optimizer.pt"))

"""ReduceLROnPlateau is stepped like any other scheduler."""
import torch
from torch.optim.lr_scheduler import ReduceLROnPlateau

optimizer = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=0.1)
scheduler = ReduceLROnPlateau(optimizer)
optimizer.step()
scheduler.step()

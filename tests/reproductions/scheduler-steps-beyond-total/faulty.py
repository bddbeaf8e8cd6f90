"""OneCycleLR was told ten steps; the second epoch asks for more."""
import torch
from torch.optim.lr_scheduler import OneCycleLR

optimizer = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=0.1)
scheduler = OneCycleLR(optimizer, max_lr=0.1, total_steps=10)
for epoch in range(2):
    for batch in range(10):
        optimizer.step()
        scheduler.step()

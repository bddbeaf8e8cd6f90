"""Every parameter is frozen before the optimizer asks which ones to train."""

import torch
from torch import nn

model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
for parameter in model.parameters():
    parameter.requires_grad = False

optimizer = torch.optim.AdamW(filter(lambda p: p.requires_grad, model.parameters()))
print(len(optimizer.param_groups[0]["params"]))

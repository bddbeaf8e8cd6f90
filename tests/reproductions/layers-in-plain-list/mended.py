"""ModuleList registers what it holds."""
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(4, 4), nn.Linear(4, 2)])


params = torch.optim.Adam(Net().parameters()).param_groups
print(len(params[0]["params"]))

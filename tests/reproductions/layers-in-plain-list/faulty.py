"""Layers in a Python list belong to no module: the model has no parameters."""
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = [nn.Linear(4, 4), nn.Linear(4, 2)]


torch.optim.Adam(Net().parameters())

"""A module keeps the output of its last forward, and is then copied."""
import copy
import torch
from torch import nn

model = nn.Linear(4, 2)
model.features = model(torch.zeros(1, 4))
copy.deepcopy(model)

"""The output is detached from its graph first."""
import torch
from torch import nn

scores = nn.Linear(4, 2)(torch.zeros(1, 4))
print(scores.detach().numpy())

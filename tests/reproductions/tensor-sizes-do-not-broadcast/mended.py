"""The residual goes through a projection to the same width."""
import torch
from torch import nn

x, residual = torch.randn(4, 10), torch.randn(4, 8)
residual = nn.Linear(8, 10)(residual)
print((x + residual).shape)

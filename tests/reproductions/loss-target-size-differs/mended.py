"""The extra dimension is taken away."""
import torch
from torch import nn

input, target = nn.Linear(4, 1)(torch.randn(16, 4)).squeeze(1), torch.randn(16)
print(nn.functional.mse_loss(input, target).item())
print(nn.functional.binary_cross_entropy_with_logits(input, (target > 0).float()).item())

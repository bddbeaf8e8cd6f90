"""A residual is added to an output of another width."""
import torch

x, residual = torch.randn(4, 10), torch.randn(4, 8)
print((x + residual).shape)

"""A residual is added in place to what ReLU needs for its gradient."""
import torch

x = torch.randn(4, requires_grad=True)
out = torch.relu(x * 2)
out += x
out.sum().backward()

"""The sum is a new tensor."""
import torch

x = torch.randn(4, requires_grad=True)
out = torch.relu(x * 2)
out = out + x
out.sum().backward()
print(x.grad)

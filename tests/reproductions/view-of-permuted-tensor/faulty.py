"""A permuted tensor is flattened with view()."""
import torch

x = torch.zeros(2, 3, 4).permute(0, 2, 1)
print(x.view(2, -1).shape)

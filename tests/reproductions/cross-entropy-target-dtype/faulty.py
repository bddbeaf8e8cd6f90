"""Class numbers are stored as floating point."""
import torch
from torch import nn

labels = torch.tensor([0.0, 1.0, 2.0])
print(nn.functional.cross_entropy(torch.randn(3, 3), labels).item())

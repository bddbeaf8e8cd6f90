"""Raw scores are given to a loss that wants probabilities."""
import torch
from torch import nn

scores, labels = torch.tensor([2.5, -1.0]), torch.tensor([1.0, 0.0])
print(nn.functional.binary_cross_entropy(scores, labels).item())

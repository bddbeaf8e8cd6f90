"""The loss that takes raw scores."""
import torch
from torch import nn

scores, labels = torch.tensor([2.5, -1.0]), torch.tensor([1.0, 0.0])
print(nn.functional.binary_cross_entropy_with_logits(scores, labels).item())
input = scores.sigmoid()

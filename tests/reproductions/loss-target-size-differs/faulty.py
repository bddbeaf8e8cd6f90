"""Scores of shape (16, 1) are compared with targets of shape (16): broadcasting makes 256 pairs."""
import torch
from torch import nn

scores, labels = nn.Linear(4, 1)(torch.randn(16, 4)), torch.randn(16)
print(nn.functional.mse_loss(scores, labels).item())
nn.functional.binary_cross_entropy_with_logits(scores, (labels > 0).float())

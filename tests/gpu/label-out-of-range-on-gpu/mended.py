"""The same labels, shifted to start at 0."""

import torch
from torch import nn

labels = torch.arange(1, 11) - 1
print("labels", labels.min().item(), "to", labels.max().item(), "of", 10)
logits = torch.randn(10, 10, device="cuda", requires_grad=True)
loss = nn.functional.cross_entropy(logits, labels.cuda())
print(loss.item())

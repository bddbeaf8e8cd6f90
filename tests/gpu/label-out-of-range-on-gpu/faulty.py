"""Labels are numbered from 1, the model has classes 0 to 9, and the loss runs on the GPU."""

import torch
from torch import nn

labels = torch.arange(1, 11)
print("labels", labels.min().item(), "to", labels.max().item(), "of", 10)
logits = torch.randn(10, 10, device="cuda", requires_grad=True)
loss = nn.functional.cross_entropy(logits, labels.cuda())
print(loss.item())

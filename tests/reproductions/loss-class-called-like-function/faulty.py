"""The loss is constructed with the tensors instead of being called with them."""
import torch
from torch import nn

scores, labels = torch.randn(4, 3), torch.tensor([0, 1, 2, 0])
loss = nn.CrossEntropyLoss(scores, labels)
print(loss)

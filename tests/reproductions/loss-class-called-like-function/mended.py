"""It is constructed once, then called."""
import torch
from torch import nn

criterion = nn.CrossEntropyLoss()
scores, labels = torch.randn(4, 3), torch.tensor([0, 1, 2, 0])
print(criterion(scores, labels).item())

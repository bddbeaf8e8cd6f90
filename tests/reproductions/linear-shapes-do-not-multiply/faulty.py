"""The image grew from 28 to 32 pixels; the linear layer behind the convolution did not."""
import torch
from torch import nn

model = nn.Sequential(nn.Conv2d(1, 4, 3), nn.Flatten(), nn.Linear(4 * 26 * 26, 10))
print(model(torch.zeros(2, 1, 32, 32)).shape)

"""Pooling to a fixed size makes the linear layer independent of the image."""
import torch
from torch import nn

model = nn.Sequential(nn.Conv2d(1, 4, 3), nn.AdaptiveAvgPool2d(4), nn.Flatten(), nn.Linear(4 * 4 * 4, 10))
images = torch.zeros(2, 1, 32, 32)
print(model(images).shape)
input, self = model[:3](images), model[3]

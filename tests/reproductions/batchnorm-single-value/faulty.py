"""Nine samples in batches of four leave a last batch of one, pooled to 1x1 before BatchNorm."""
import torch
from torch import nn

model = nn.Sequential(nn.Conv2d(3, 8, 3), nn.AdaptiveAvgPool2d(1), nn.BatchNorm2d(8), nn.ReLU())
images = torch.randn(9, 3, 16, 16)
for batch in images.split(4):
    print(model(batch).shape)

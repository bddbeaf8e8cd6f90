"""The model was moved to the GPU, the batch was not."""

import torch
from torch import nn

model = nn.Linear(4, 2).cuda()
batch = torch.randn(8, 4)
print("batch on", batch.device.type, "weights on", model.weight.device.type)
print(model(batch).shape)

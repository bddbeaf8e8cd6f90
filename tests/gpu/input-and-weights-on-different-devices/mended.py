"""The same; the batch goes where the weights are."""

import torch
from torch import nn

model = nn.Linear(4, 2).cuda()
batch = torch.randn(8, 4).to(model.weight.device)
print("batch on", batch.device.type, "weights on", model.weight.device.type)
print(model(batch).shape)

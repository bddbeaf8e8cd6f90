"""A fixed batch size is written into view(); the last batch is smaller."""
import torch

for x in torch.zeros(10, 3, 4).split(8):
    print(x.view(8, 12).shape)

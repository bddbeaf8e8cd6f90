"""The batch size is read from the tensor."""
import torch

for x in torch.zeros(10, 3, 4).split(8):
    print(x.view(x.shape[0], -1).shape)

"""The smaller one is brought to the size of the larger."""
import torch
from torch.nn.functional import interpolate

down, up = torch.zeros(1, 8, 16, 16), torch.zeros(1, 8, 15, 15)
tensors = [down, interpolate(up, down.shape[-2:])]
print(torch.cat(tensors, dim=1).shape)

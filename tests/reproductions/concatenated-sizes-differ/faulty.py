"""Features of two sizes are joined along the channels."""
import torch

down, up = torch.zeros(1, 8, 16, 16), torch.zeros(1, 8, 15, 15)
tensors = [down, up]
print(torch.cat(tensors, dim=1).shape)

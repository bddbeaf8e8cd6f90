"""reshape() copies where it has to."""
import torch

x = torch.zeros(2, 3, 4).permute(0, 2, 1)
print(x.reshape(2, -1).shape)

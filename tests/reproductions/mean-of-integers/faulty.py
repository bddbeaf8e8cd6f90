"""The accuracy of a batch is the mean of a comparison turned into integers."""
import torch

correct = torch.tensor([1, 0, 1, 1])
print(correct.mean())

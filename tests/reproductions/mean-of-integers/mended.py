"""The values are floating point before they are averaged."""
import torch

correct = torch.tensor([1, 0, 1, 1]).float()
print(correct.mean())

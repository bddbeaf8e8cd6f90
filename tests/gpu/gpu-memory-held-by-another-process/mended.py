"""The other process has ended: the same allocation fits."""

import torch

model = torch.empty(4 * 2**30, dtype=torch.uint8, device="cuda")
print("fits")

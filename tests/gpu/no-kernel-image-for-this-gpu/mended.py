"""The installed torch has kernels for this GPU: an operation runs."""

import torch

print(torch.cuda.get_arch_list(), torch.cuda.get_device_capability(), (torch.ones(4, device="cuda") * 2).sum().item())

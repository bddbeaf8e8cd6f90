"""The same; numbers count what is visible, from 0."""

import os

os.environ["CUDA_VISIBLE_DEVICES"] = os.environ.get("CUDA_VISIBLE_DEVICES", "0").split(",")[0]

import torch

print("visible:", torch.cuda.device_count(), "asked for: cuda:0")
print(torch.zeros(1, device="cuda:0"))

"""One GPU is visible, and the program asks for the second."""

import os

os.environ["CUDA_VISIBLE_DEVICES"] = os.environ.get("CUDA_VISIBLE_DEVICES", "0").split(",")[0]

import torch

print("visible:", torch.cuda.device_count(), "asked for: cuda:1")
print(torch.zeros(1, device="cuda:1"))

"""Weights and gradients fit; Adam's two moments, made at the first step, do not."""

import torch
from torch import nn


def allow(gib: float) -> None:
    """Let this process have only so much of the card, so that the fault needs no full one."""
    torch.cuda.set_per_process_memory_fraction(gib * 2**30 / torch.cuda.get_device_properties(0).total_memory)


allow(0.9)
model = nn.Linear(8192, 8192, bias=False, device="cuda")  # 256 MiB, and as much for the gradient
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
model(torch.randn(16, 8192, device="cuda")).mean().backward()
print("backward done")
torch.cuda.empty_cache()
optimizer.step()
print("step done")

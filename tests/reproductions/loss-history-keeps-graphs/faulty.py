"""Losses are summed with their graphs: every step's activations stay in memory."""
import torch

weight, total = torch.ones(1, requires_grad=True), 0
for step in range(60):
    activations = torch.ones(8_000_000) * weight
    total += (activations * activations).mean()
print(total)

"""Only the number is kept."""
import torch

weight, total = torch.ones(1, requires_grad=True), 0
for step in range(60):
    activations = torch.ones(8_000_000) * weight
    total += (activations * activations).mean().item()
print(total)

"""The same loop without gradients: a batch's activations are gone when its output is there."""

import torch
from torch import nn


def allow(gib: float) -> None:
    """Let this process have only so much of the card, so that the fault needs no full one."""
    torch.cuda.set_per_process_memory_fraction(gib * 2**30 / torch.cuda.get_device_properties(0).total_memory)


@torch.no_grad()
def evaluate(model: nn.Module, batches: int) -> torch.Tensor:
    outputs = []
    for _ in range(batches):
        outputs.append(model(torch.randn(4096, 1024, device="cuda")).sum())
    return torch.stack(outputs)


allow(2.0)
model = nn.Sequential(*[layer for _ in range(8) for layer in (nn.Linear(1024, 1024), nn.ReLU())]).cuda().eval()
print(evaluate(model, 60).shape)

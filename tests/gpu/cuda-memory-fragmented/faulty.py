"""Half of a reserved segment is free, but in pieces: a request larger than any piece fails."""

import os

os.environ.pop("PYTORCH_ALLOC_CONF", None)
os.environ.pop("PYTORCH_CUDA_ALLOC_CONF", None)

import torch

MIB = 2**20


def allow(gib: float) -> None:
    """Let this process have only so much of the card, so that the fault needs no full one."""
    torch.cuda.set_per_process_memory_fraction(gib * 2**30 / torch.cuda.get_device_properties(0).total_memory)


allow(1.8)
whole = torch.empty(1536 * MIB, dtype=torch.uint8, device="cuda")
del whole  # the allocator keeps the segment
pieces = [torch.empty(64 * MIB, dtype=torch.uint8, device="cuda") for _ in range(24)]
del pieces[::2]
print("kept", torch.cuda.memory_allocated() // MIB, "of", torch.cuda.memory_reserved() // MIB, "MiB")
activations = torch.empty(512 * MIB, dtype=torch.uint8, device="cuda")
print("fits")

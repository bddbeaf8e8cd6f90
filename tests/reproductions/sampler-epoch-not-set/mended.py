"""The epoch is set before each pass."""
from torch.utils.data import DistributedSampler

sampler = DistributedSampler(range(6), num_replicas=2, rank=0, shuffle=True)
for epoch in range(2):
    sampler.set_epoch(epoch)
    print(f"pass {epoch}:", list(sampler))

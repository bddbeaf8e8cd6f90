"""DistributedSampler shuffles by its epoch, which nobody tells it."""
from torch.utils.data import DistributedSampler

sampler = DistributedSampler(range(6), num_replicas=2, rank=0, shuffle=True)
for epoch in range(2):
    print(f"epoch {epoch}: order", list(sampler))

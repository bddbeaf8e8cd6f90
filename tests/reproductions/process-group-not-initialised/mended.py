"""The group comes first, also with one process."""
import torch
import torch.distributed as dist

dist.init_process_group("gloo", rank=0, world_size=1, store=dist.HashStore())
dist.all_reduce(torch.zeros(1))
dist.destroy_process_group()

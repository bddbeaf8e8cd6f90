"""A process group with NCCL on a build of torch without it."""

import torch.distributed

backend = "nccl"
store = torch.distributed.HashStore()
torch.distributed.init_process_group(backend, store=store, rank=0, world_size=1)
print(torch.distributed.get_backend())
torch.distributed.destroy_process_group()

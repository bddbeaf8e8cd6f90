"""The same with the backend that this build has."""

import torch.distributed

backend = "nccl" if torch.distributed.is_nccl_available() else "gloo"
store = torch.distributed.HashStore()
torch.distributed.init_process_group(backend, store=store, rank=0, world_size=1)
print(torch.distributed.get_backend())
torch.distributed.destroy_process_group()

"""The same; rank 0 runs and listens at the address."""

from datetime import timedelta

import torch.distributed

torch.distributed.init_process_group("gloo", timeout=timedelta(seconds=60))
print(torch.distributed.get_world_size())
torch.distributed.destroy_process_group()

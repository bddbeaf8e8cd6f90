"""A second job on the same machine uses the default rendezvous port while the first still runs."""

import torch.distributed

torch.distributed.init_process_group("gloo", init_method="env://")
print(torch.distributed.get_world_size())
torch.distributed.destroy_process_group()

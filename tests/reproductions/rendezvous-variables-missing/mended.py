"""The surroundings give what torchrun would have given."""
import torch.distributed

torch.distributed.init_process_group("gloo")
print(torch.distributed.get_rank())
torch.distributed.destroy_process_group()

"""init_process_group() without a launcher and without the variables that a launcher sets."""
import torch.distributed

torch.distributed.init_process_group("gloo")
print(torch.distributed.get_rank())

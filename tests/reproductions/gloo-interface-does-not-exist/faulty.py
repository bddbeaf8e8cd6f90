"""The variable names a network interface of another machine."""
import torch.distributed

torch.distributed.init_process_group("gloo")

"""A collective is called before init_process_group."""
import torch
import torch.distributed

torch.distributed.all_reduce(torch.zeros(1))

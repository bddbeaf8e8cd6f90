"""One rank for the one GPU; with more of them each takes the one of its LOCAL_RANK."""

import os

import torch
import torch.distributed as dist

os.environ.update(RANK="0", LOCAL_RANK="0", WORLD_SIZE="1", MASTER_ADDR="127.0.0.1", MASTER_PORT="18495")
torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
dist.init_process_group("nccl")
total = torch.ones(1, device="cuda")
dist.all_reduce(total)
print("sum", total.item())
dist.destroy_process_group()

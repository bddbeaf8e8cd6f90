"""Rank 0 has one batch more than rank 1: it reduces gradients while rank 1 already waits at the end of the epoch."""

import faulthandler
import os
import subprocess
import sys

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, TensorDataset

if "RANK" not in os.environ:  # started by hand: start two ranks of it
    job = {"WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "18497"}
    ranks = [subprocess.Popen([sys.executable, __file__], env={**os.environ, **job, "RANK": str(rank)}) for rank in range(2)]
    raise SystemExit(max(rank.wait() for rank in ranks))

dist.init_process_group("gloo")
samples = torch.randn(5, 4)[dist.get_rank() :: dist.get_world_size()]
model = DistributedDataParallel(nn.Linear(4, 1))
stacks = sys.stderr if dist.get_rank() == 0 else open("stacks-of-rank-1.txt", "w")
faulthandler.dump_traceback_later(10, exit=True, file=stacks)
for (batch,) in DataLoader(TensorDataset(samples)):
    model(batch).sum().backward()
dist.barrier()
print("epoch done")
dist.destroy_process_group()

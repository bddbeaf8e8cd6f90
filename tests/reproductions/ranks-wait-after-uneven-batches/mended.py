"""The same; the sampler deals out as many batches to every rank."""

import faulthandler
import os
import subprocess
import sys

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

if "RANK" not in os.environ:  # started by hand: start two ranks of it
    job = {"WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "18497"}
    ranks = [subprocess.Popen([sys.executable, __file__], env={**os.environ, **job, "RANK": str(rank)}) for rank in range(2)]
    raise SystemExit(max(rank.wait() for rank in ranks))

dist.init_process_group("gloo")
samples = TensorDataset(torch.randn(5, 4))
model = DistributedDataParallel(nn.Linear(4, 1))
faulthandler.dump_traceback_later(100, exit=True)
for (batch,) in DataLoader(samples, sampler=DistributedSampler(samples)):
    model(batch).sum().backward()
dist.barrier()
print("epoch done")
dist.destroy_process_group()

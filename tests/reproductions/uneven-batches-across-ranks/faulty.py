"""Five samples dealt out to two ranks by a slice: rank 0 has one more and still reduces gradients when rank 1 has left."""

import os
import subprocess
import sys

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, TensorDataset

if "RANK" not in os.environ:  # started by hand: let torchrun start two of it
    raise SystemExit(subprocess.call([sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2", __file__]))

dist.init_process_group("gloo")
samples = torch.randn(5, 4)[dist.get_rank() :: dist.get_world_size()]
model = DistributedDataParallel(nn.Linear(4, 1))
for (batch,) in DataLoader(TensorDataset(samples)):
    model(batch).sum().backward()
print("done")

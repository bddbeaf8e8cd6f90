"""A head that this step does not use: DDP waits for its gradient."""

import os
import subprocess
import sys

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

if "RANK" not in os.environ:  # started by hand: let torchrun start two of it
    raise SystemExit(subprocess.call([sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2", __file__]))


class TwoHeads(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.trunk, self.main, self.auxiliary = nn.Linear(4, 4), nn.Linear(4, 1), nn.Linear(4, 1)

    def forward(self, x):
        return self.main(self.trunk(x))


dist.init_process_group("gloo")
model = DistributedDataParallel(TwoHeads())
for step in range(2):
    model(torch.randn(2, 4)).sum().backward()
print("done")
dist.destroy_process_group()

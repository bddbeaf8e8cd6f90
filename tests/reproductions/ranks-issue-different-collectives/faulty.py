"""Rank 0 averages the loss while rank 1 has already reached the broadcast after it."""

import os
import subprocess
import sys

import torch
import torch.distributed as dist

os.environ["TORCH_DISTRIBUTED_DEBUG"] = "DETAIL"  # read when torch.distributed is imported: has to be set before
if "RANK" not in os.environ:  # started by hand: let torchrun start two of it
    raise SystemExit(subprocess.call([sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2", __file__]))

dist.init_process_group("gloo")
rank = dist.get_rank()
loss = torch.tensor([1.0])
if rank == 0:
    dist.all_reduce(loss)
dist.broadcast(loss, src=0)
print("loss", loss.item())
dist.destroy_process_group()

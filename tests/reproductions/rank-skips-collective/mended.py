"""The same; every rank takes part in the collective."""

import faulthandler
import os
import subprocess
import sys

import torch
import torch.distributed as dist

if "RANK" not in os.environ:  # started by hand: let torchrun start two of it
    raise SystemExit(subprocess.call([sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2", __file__]))

dist.init_process_group("gloo")
faulthandler.dump_traceback_later(100, exit=True)
rank = dist.get_rank()
accuracy = torch.tensor([0.5])
dist.all_reduce(accuracy)
dist.barrier()
print("rank", rank, "goes on")
dist.destroy_process_group()

"""Every rank loads its share, and the limit is larger."""
import os
import sys
import torch
import torch.distributed as dist

if "RANK" not in os.environ:
    os.execvp(sys.executable, [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", "2", "--standalone", __file__])
dist.init_process_group("gloo")
dist.all_reduce(torch.ones(1))
weights = [torch.ones(10_000_000) for _ in range(2)]
dist.all_reduce(torch.ones(1))
dist.destroy_process_group()

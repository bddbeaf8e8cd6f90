"""One rank loads more than the container has; the kernel kills it, the others lose their connection."""
import os
import sys
import torch
import torch.distributed as dist

if "RANK" not in os.environ:
    os.execvp(sys.executable, [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", "2", "--standalone", __file__])
dist.init_process_group("gloo")
dist.all_reduce(torch.ones(1))
weights = [torch.ones(10_000_000) for _ in range(40 * dist.get_rank())]  # 40 MB each
dist.all_reduce(torch.ones(1))

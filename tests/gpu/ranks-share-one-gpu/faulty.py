"""Two ranks both take cuda:0, because nobody told them to take their own."""

import os
import subprocess
import sys

if "RANK" not in os.environ:  # started by hand: start two of it
    ranks = [
        subprocess.Popen([sys.executable, __file__], env={**os.environ, "RANK": str(rank), "LOCAL_RANK": str(rank), "WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "18495"})
        for rank in range(2)
    ]
    raise SystemExit(max(abs(rank.wait()) for rank in ranks))

import torch
import torch.distributed as dist

dist.init_process_group("nccl")
total = torch.ones(1, device="cuda:0")
dist.all_reduce(total)
print("sum", total.item())

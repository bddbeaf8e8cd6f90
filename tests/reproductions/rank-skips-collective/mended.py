"""The same; every rank takes part in the collective."""

import faulthandler
import os
import subprocess
import sys

import torch
import torch.distributed as dist

if "RANK" not in os.environ:  # started by hand: start two ranks of it
    job = {"WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "18496"}
    ranks = [subprocess.Popen([sys.executable, __file__], env={**os.environ, **job, "RANK": str(rank)}) for rank in range(2)]
    raise SystemExit(max(rank.wait() for rank in ranks))

dist.init_process_group("gloo")
faulthandler.dump_traceback_later(100, exit=True)
rank = dist.get_rank()
accuracy = torch.tensor([0.5])
dist.all_reduce(accuracy)
dist.barrier()
print("rank", rank, "goes on")
dist.destroy_process_group()

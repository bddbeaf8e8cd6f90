"""The same parser takes both spellings, and the variable that torchrun sets."""

import argparse
import os
import subprocess
import sys

if "RANK" not in os.environ:  # started by hand: start it as old instructions say
    raise SystemExit(subprocess.call([sys.executable, "-m", "torch.distributed.launch", "--nproc-per-node=1", "--master-port=0", __file__]))

parser = argparse.ArgumentParser()
parser.add_argument("--local-rank", "--local_rank", type=int, default=int(os.environ.get("LOCAL_RANK", 0)))
print("local rank", parser.parse_args().local_rank)

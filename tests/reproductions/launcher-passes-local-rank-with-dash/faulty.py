"""torch.distributed.launch of torch 2 passes --local-rank; the script's parser knows --local_rank."""

import argparse
import os
import subprocess
import sys

if "RANK" not in os.environ:  # started by hand: start it as old instructions say
    raise SystemExit(subprocess.call([sys.executable, "-m", "torch.distributed.launch", "--nproc-per-node=1", "--master-port=0", __file__]))

parser = argparse.ArgumentParser()
parser.add_argument("--local_rank", type=int, default=0)
print("local rank", parser.parse_args().local_rank)

"""Another process has nearly the whole card before this one starts."""

import subprocess
import sys

HOLDER = """
import sys, torch
free, total = torch.cuda.mem_get_info()
held = torch.empty(free - 2 * 2**30, dtype=torch.uint8, device="cuda")
print("held", flush=True)
sys.stdin.read()
"""

holder = subprocess.Popen([sys.executable, "-c", HOLDER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
assert holder.stdout.readline() == "held\n"
try:
    import torch

    model = torch.empty(4 * 2**30, dtype=torch.uint8, device="cuda")
    print("fits")
finally:
    holder.stdin.close()
    holder.wait()

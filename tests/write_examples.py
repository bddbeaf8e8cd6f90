"""Print the examples anew: what the reproductions and one failing job of several ranks really print, with neutral paths.

    python tests/write_examples.py [NAME…]      writes examples/NAME.txt; without names all of them
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent / "reproductions"))
import stage  # noqa: E402  (lies beside the reproductions, so that these can be run by hand)

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"
REPRODUCTIONS = Path(stage.__file__).parent

SINGLE = (
    "rendezvous-variables-missing",
    "batchnorm-single-value",
    "label-out-of-range",
    "loader-shared-memory-too-small",
    "loader-too-many-open-files",
    "state-dict-has-module-prefix",
    "port-already-in-use",
)
"""Reproductions whose output is an example."""

RANKS = '''\
import logging, os, sys, time
import torch, torch.distributed as dist
from torch import nn

logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s", stream=sys.stdout)
dist.init_process_group("gloo")
rank = dist.get_rank()
torch.manual_seed(rank)
model = nn.parallel.DistributedDataParallel(nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 10)))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(600):
    labels = torch.randint(0, 10, (8,))
    if step == 537 and rank == 2:
        labels[3] = 10
    loss = nn.functional.cross_entropy(model(torch.randn(8, 16)), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if rank == 0:
        logging.info("step %d/600 loss %.4f lr 1.0e-01", step, loss.item())
'''


def main() -> int:
    """Write the examples that were asked for."""
    names = sys.argv[1:] or [*SINGLE, "several-ranks"]
    EXAMPLES.mkdir(exist_ok=True)
    for name in names:
        printed = several_ranks() if name == "several-ranks" else single(name)
        (EXAMPLES / f"{name}.txt").write_text(printed, encoding="utf-8")
        print(f"{name}: {len(printed.splitlines())} lines")
    return 0


def single(name: str) -> str:
    """What the faulty script of a reproduction prints."""
    with stage.stage(REPRODUCTIONS / name, "faulty") as on:
        return neutral(on.run_script().output, on.job)


def several_ranks() -> str:
    """What three gloo ranks under torchrun print when one of them fails in the middle of training."""
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "train.py"
        script.write_text(RANKS, encoding="utf-8")
        environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONUNBUFFERED": "1"}
        command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "3", "train.py"]
        done = subprocess.run(command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300)
        return neutral(done.stdout, Path(folder))


def neutral(text: str, job: Path) -> str:
    """The text with the places and names of this machine replaced by those of a container."""
    python = f"python{sys.version_info.major}.{sys.version_info.minor}"
    for place, name in (
        (sysconfig.get_paths()["purelib"], f"/opt/venv/lib/{python}/site-packages"),
        (sys.prefix, "/opt/venv"),
        (sysconfig.get_paths()["stdlib"], f"/usr/lib/{python}"),
        (sys.base_prefix, "/usr"),
        (os.path.realpath(job), "/job"),
        (str(job), "/job"),
        (os.uname().nodename, "node1"),
    ):
        text = text.replace(place, name)
    return re.sub(r"/tmp/tmp\w+|/tmp/kb-stage-\w+", "/tmp/job", text)


if __name__ == "__main__":
    sys.exit(main())

"""A file in the job's folder has the name of a library."""
import pathlib

pathlib.Path("torch.py").write_text("import torch\nprint(torch.zeros(2))\n")
import torch

print(torch.zeros(2))

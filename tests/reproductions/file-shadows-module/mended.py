"""The file has a name of its own."""
import pathlib

pathlib.Path("try_torch.py").write_text("import torch\nprint(torch.zeros(2))\n")
import torch

print(torch.zeros(2))

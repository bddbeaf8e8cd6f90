"""The same file with its real content, as after `git lfs pull`."""

import torch
from safetensors.torch import load_file, save_file

save_file({"weight": torch.zeros(2, 2)}, "model.safetensors")

weights = load_file("model.safetensors")
print(sorted(weights))

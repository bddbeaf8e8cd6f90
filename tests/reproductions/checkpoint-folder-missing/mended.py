"""The folder is made before saving."""
import os
import torch

f = "checkpoints/last.pt"
os.makedirs(os.path.dirname(f), exist_ok=True)
torch.save({"step": 1}, f)

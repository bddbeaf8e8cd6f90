"""The folder for checkpoints was never made."""
import torch

torch.save({"step": 1}, "checkpoints/last.pt")

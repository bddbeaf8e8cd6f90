"""A checkpoint of a megabyte is saved to a disk that has not as much left."""
import torch

torch.save({"weight": torch.zeros(256, 1024)}, "checkpoints/last.pt")

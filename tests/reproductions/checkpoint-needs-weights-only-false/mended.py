"""The class is allowed by name."""
import argparse
import torch

torch.save({"args": argparse.Namespace(lr=0.1), "weight": torch.zeros(2)}, "model.pt")
torch.serialization.add_safe_globals([argparse.Namespace])
print(torch.load("model.pt"))

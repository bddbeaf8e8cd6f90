"""The whole file is there."""
import torch

torch.save({"weight": torch.zeros(1000)}, "model.pt")
print(torch.load("model.pt")["weight"].shape)

"""`git lfs pull` brought the file itself."""
import torch

torch.save({"weight": torch.zeros(2)}, "model.pt")
print(torch.load("model.pt", map_location="cpu"))

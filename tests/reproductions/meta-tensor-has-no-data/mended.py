"""Memory is taken first, then the weights are loaded."""
import torch
from torch import nn

with torch.device("meta"):
    model = nn.Linear(4, 2)
model.to_empty(device="cpu").load_state_dict({"weight": torch.zeros(2, 4), "bias": torch.zeros(2)})
t = model.weight
print(t.device)

"""A model built without memory is moved to a device as if it had weights."""
import torch
from torch import nn

with torch.device("meta"):
    model = nn.Linear(4, 2)
print(model.to("cpu"))

"""The weights are saved from the model that was compiled."""
import torch
from torch import nn

model = nn.Linear(4, 2)
compiled = torch.compile(model)
torch.save(model.state_dict(), "model.pt")
state_dict = torch.load("model.pt")
self = nn.Linear(4, 2)
print(self.load_state_dict(state_dict))

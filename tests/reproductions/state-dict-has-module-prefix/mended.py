"""The inner model's weights are saved."""
import torch
from torch import nn

torch.save(nn.DataParallel(nn.Linear(4, 2)).module.state_dict(), "model.pt")
state_dict = torch.load("model.pt")
self = nn.Linear(4, 2)
print(self.load_state_dict(state_dict))

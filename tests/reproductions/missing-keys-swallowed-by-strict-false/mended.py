"""The names are translated and loading is strict."""
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Linear(4, 2)


state = {"backbone.weight": torch.ones(2, 4), "backbone.bias": torch.ones(2)}
print(Net().load_state_dict({name.replace("backbone.", "encoder."): value for name, value in state.items()}))

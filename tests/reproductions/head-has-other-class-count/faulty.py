"""A classifier of 1000 classes is loaded into one of 10."""
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.body = nn.Linear(8, 16)
        self.fc = nn.Linear(16, classes)


torch.save(Net(1000).state_dict(), "model.pt")
Net(10).load_state_dict(torch.load("model.pt"), strict=False)

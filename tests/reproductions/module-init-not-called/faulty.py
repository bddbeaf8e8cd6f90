"""A layer is assigned before nn.Module has set up its registers."""
from torch import nn


class Net(nn.Module):
    def __init__(self):
        self.fc = nn.Linear(4, 2)


Net()

"""The outputs are taken out of the pair."""
import torch
from torch import nn

lstm, head = nn.LSTM(4, 8), nn.Linear(8, 2)
input, state = lstm(torch.randn(5, 2, 4))
print(head(input).shape)

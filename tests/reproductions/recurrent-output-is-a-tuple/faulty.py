"""A recurrent layer inside Sequential hands on its outputs and its state."""
import torch
from torch import nn

model = nn.Sequential(nn.LSTM(4, 8), nn.Linear(8, 2))
print(model(torch.randn(5, 2, 4)).shape)

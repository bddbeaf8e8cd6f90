"""The hidden state of one step, with its graph, goes into the next."""
import torch
from torch import nn

rnn = nn.GRU(4, 8)
hidden = torch.zeros(1, 2, 8)
for step in range(3):
    output, hidden = rnn(torch.randn(5, 2, 4), hidden)
    loss = output.sum()
    loss.backward()
    print(step, loss.item())

"""The embedding has a row for every id."""
import torch
from torch import nn

embedding = nn.Embedding(101, 8)
tokens = torch.tensor([[5, 99, 100]])
print(embedding(tokens).shape)
input, weight = tokens, embedding.weight

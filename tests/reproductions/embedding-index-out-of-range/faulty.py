"""A token id as large as the vocabulary is looked up in an embedding."""
import torch
from torch import nn

embedding = nn.Embedding(100, 8)
tokens = torch.tensor([[5, 99, 100]])
print(embedding(tokens).shape)

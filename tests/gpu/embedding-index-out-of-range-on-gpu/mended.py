"""The same ids and a table with a row for each."""

import torch
from torch import nn

ids = torch.tensor([3, 5, 12])
embedding = nn.Embedding(16, 4)
print("ids up to", ids.max().item(), "of", embedding.num_embeddings)
vectors = embedding.cuda()(ids.cuda())
print(vectors.sum().item())

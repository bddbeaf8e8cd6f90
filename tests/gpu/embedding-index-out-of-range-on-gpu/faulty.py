"""A token id beyond the embedding table, looked up on the GPU."""

import torch
from torch import nn

ids = torch.tensor([3, 5, 12])
embedding = nn.Embedding(10, 4)
print("ids up to", ids.max().item(), "of", embedding.num_embeddings)
vectors = embedding.cuda()(ids.cuda())
print(vectors.sum().item())

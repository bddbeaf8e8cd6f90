"""The width is a multiple of the heads."""
from torch import nn

embed_dim, num_heads = 12, 3
print(nn.MultiheadAttention(embed_dim, num_heads))

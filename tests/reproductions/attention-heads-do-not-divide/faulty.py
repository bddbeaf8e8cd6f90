"""Ten features cannot be shared evenly by three heads."""
from torch import nn

print(nn.MultiheadAttention(10, 3))

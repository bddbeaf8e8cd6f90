"""The cache lies where this user may write."""
import os
import torch.hub

os.makedirs(torch.hub.get_dir(), exist_ok=True)
print(torch.hub.get_dir())

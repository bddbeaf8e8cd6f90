"""The cache of downloaded weights cannot be written."""
import os
import torch.hub

os.makedirs(torch.hub.get_dir(), exist_ok=True)
print(torch.hub.get_dir())

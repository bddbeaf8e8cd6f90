"""Every image is brought to one size before it is stacked."""
import torch
from torch.nn.functional import interpolate
from torch.utils.data import DataLoader

images = [torch.zeros(3, 32, 32), torch.zeros(3, 32, 48)]
batch = [interpolate(image[None], (32, 32))[0] for image in images]
for stacked in DataLoader(batch, batch_size=2):
    print(stacked.shape)

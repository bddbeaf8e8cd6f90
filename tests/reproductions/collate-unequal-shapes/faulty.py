"""Images of two sizes are stacked into one batch."""
import torch
from torch.utils.data import DataLoader

images = [torch.zeros(3, 32, 32), torch.zeros(3, 32, 48)]
for batch in DataLoader(images, batch_size=2):
    print(batch.shape)

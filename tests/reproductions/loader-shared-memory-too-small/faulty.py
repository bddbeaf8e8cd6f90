"""Loader workers hand 6 MB batches to the parent through a /dev/shm of 4 MB."""
import torch
from torch.utils.data import DataLoader, TensorDataset

images = TensorDataset(torch.zeros(32, 3, 256, 256))
if __name__ == "__main__":
    for (batch,) in DataLoader(images, batch_size=8, num_workers=2):
        print(batch.shape)

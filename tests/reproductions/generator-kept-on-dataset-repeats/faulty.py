"""A NumPy generator made in the dataset's __init__ is copied into every worker, in every epoch."""
import numpy
import torch
from torch.utils.data import DataLoader, Dataset


class Noisy(Dataset):
    def __init__(self):
        self.rng = numpy.random.default_rng()

    def __len__(self):
        return 2

    def __getitem__(self, index):
        return self.rng.integers(1_000_000)


if __name__ == "__main__":
    loader = DataLoader(Noisy(), num_workers=2)
    for epoch in range(2):
        print(f"epoch {epoch}: augmentation drew", torch.cat(list(loader)).tolist())

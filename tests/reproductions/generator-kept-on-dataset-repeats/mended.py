"""The generator is made in the worker, from the seed that the loader gives it."""
import numpy
import torch
from torch.utils.data import DataLoader, Dataset, get_worker_info


class Noisy(Dataset):
    rng = None

    def __len__(self):
        return 2

    def __getitem__(self, index):
        if self.rng is None:
            self.rng = numpy.random.default_rng(get_worker_info().seed)
        return self.rng.integers(1_000_000)


if __name__ == "__main__":
    loader = DataLoader(Noisy(), num_workers=2)
    for epoch in range(2):
        print(f"epoch {epoch}: augmentation drew", torch.cat(list(loader)).tolist())

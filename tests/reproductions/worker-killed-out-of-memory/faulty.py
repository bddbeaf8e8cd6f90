"""Each worker keeps what it has decoded; the container's memory is used up."""
import torch
from torch.utils.data import DataLoader, Dataset


class Cached(Dataset):
    cache: list = []

    def __len__(self):
        return 40

    def __getitem__(self, index):
        self.cache.append(torch.ones(10_000_000))  # 40 MB
        return index


if __name__ == "__main__":
    for batch in DataLoader(Cached(), num_workers=1):
        pass

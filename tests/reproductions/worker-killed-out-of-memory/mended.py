"""Nothing is kept, and the limit is larger."""
import torch
from torch.utils.data import DataLoader, Dataset


class Plain(Dataset):
    def __len__(self):
        return 40

    def __getitem__(self, index):
        torch.ones(10_000_000)
        return index


if __name__ == "__main__":
    for batch in DataLoader(Plain(), num_workers=1):
        pass

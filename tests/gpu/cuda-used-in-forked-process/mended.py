"""The same; workers stay on the CPU and the main process moves the batch."""

import torch
from torch.utils.data import DataLoader, Dataset


class OnGpu(Dataset):
    def __len__(self) -> int:
        return 4

    def __getitem__(self, index: int) -> torch.Tensor:
        return torch.tensor([index])


if __name__ == "__main__":
    torch.zeros(1, device="cuda")
    for batch in DataLoader(OnGpu(), num_workers=1, multiprocessing_context="fork"):
        print(batch.cuda())

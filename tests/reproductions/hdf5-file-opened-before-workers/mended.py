"""The same dataset opens the file in the process that reads it, at the first sample."""

import h5py
import numpy
from torch.utils.data import DataLoader, Dataset


class Frames(Dataset):
    def __init__(self, path: str) -> None:
        self.path = path
        self.file = None
        with h5py.File(path, "r") as file:
            self.length = len(file["frames"])

    def __len__(self) -> int:
        return self.length

    def __getitem__(self, index: int) -> numpy.ndarray:
        if self.file is None:
            self.file = h5py.File(self.path, "r")
        return self.file["frames"][index]


if __name__ == "__main__":
    with h5py.File("frames.h5", "w") as out:
        out["frames"] = numpy.arange(32.0).reshape(8, 4)
    dataset = Frames("frames.h5")
    loader = DataLoader(dataset, batch_size=4, num_workers=2, multiprocessing_context="spawn")
    for batch in loader:
        print(batch.shape)

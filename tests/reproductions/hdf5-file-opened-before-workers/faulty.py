"""A dataset opens its HDF5 file in __init__ and is then sent to spawned workers."""

import h5py
import numpy
from torch.utils.data import DataLoader, Dataset


class Frames(Dataset):
    def __init__(self, path: str) -> None:
        self.file = h5py.File(path, "r")

    def __len__(self) -> int:
        return len(self.file["frames"])

    def __getitem__(self, index: int) -> numpy.ndarray:
        return self.file["frames"][index]


if __name__ == "__main__":
    with h5py.File("frames.h5", "w") as out:
        out["frames"] = numpy.arange(32.0).reshape(8, 4)
    dataset = Frames("frames.h5")
    loader = DataLoader(dataset, batch_size=4, num_workers=2, multiprocessing_context="spawn")
    for batch in loader:
        print(batch.shape)

"""Workers are spawned, and the dataset holds a lambda."""
from torch.utils.data import DataLoader, Dataset


class Scaled(Dataset):
    def __init__(self):
        self.transform = lambda value: value / 255

    def __len__(self):
        return 4

    def __getitem__(self, index):
        return self.transform(index)


if __name__ == "__main__":
    for batch in DataLoader(Scaled(), num_workers=1, multiprocessing_context="spawn"):
        print(batch)

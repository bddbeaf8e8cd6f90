"""The transform is a function of the module, which a worker can import by its name."""
from torch.utils.data import DataLoader, Dataset


def scale(value):
    return value / 255


class Scaled(Dataset):
    def __init__(self):
        self.transform = scale

    def __len__(self):
        return 4

    def __getitem__(self, index):
        return self.transform(index)


if __name__ == "__main__":
    for batch in DataLoader(Scaled(), num_workers=1, multiprocessing_context="spawn"):
        print(batch)

"""Each worker takes its share."""
import itertools
import torch
from torch.utils.data import DataLoader, IterableDataset, get_worker_info


class Lines(IterableDataset):
    def __iter__(self):
        worker = get_worker_info()
        return itertools.islice(range(4), worker.id, None, worker.num_workers)


if __name__ == "__main__":
    print("every one once:", sorted(torch.cat(list(DataLoader(Lines(), num_workers=2))).tolist()))

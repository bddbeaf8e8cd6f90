import threading
import torch.utils.data as data

class Samples(data.Dataset):
    def __len__(self):
        return 10

    def __getitem__(self, index):
        threading.Event().wait()

def first_batch():
    return next(iter(data.DataLoader(Samples(), num_workers=1)))

first_batch()

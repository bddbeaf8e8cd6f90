"""The pattern matches no file, and nobody looks before the loader does."""
import glob
from torch.utils.data import DataLoader

files = glob.glob("data/train/*.jpg")
loader = DataLoader(files, batch_size=4, shuffle=True)
print(len(loader))

"""The files lie where the pattern looks."""
import glob
import pathlib
from torch.utils.data import DataLoader

pathlib.Path("data/train").mkdir(parents=True)
pathlib.Path("data/train/cat.jpg").touch()
data_source = glob.glob("data/train/*.jpg")
loader = DataLoader(data_source, batch_size=4, shuffle=True)
print(len(loader))

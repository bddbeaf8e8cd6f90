"""The repository was cloned without Git LFS: the checkpoint is a text file of three lines."""
import torch

open("model.pt", "w").write("version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 4217\n")
print(torch.load("model.pt", map_location="cpu"))

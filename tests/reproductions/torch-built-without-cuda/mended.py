"""The device is chosen by what this build of torch offers."""
import torch

x = torch.zeros(2).to("cuda" if torch.cuda.is_available() else "cpu")
print(x.device)

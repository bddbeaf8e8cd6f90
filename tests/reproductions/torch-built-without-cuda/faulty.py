"""A CPU build of torch is asked for a GPU."""
import torch

x = torch.zeros(2).cuda()
print(x.device)

"""A checkpoint saved from a wrapped model is loaded into a bare one."""
import torch
from torch import nn

torch.save(nn.DataParallel(nn.Linear(4, 2)).state_dict(), "model.pt")
nn.Linear(4, 2).load_state_dict(torch.load("model.pt"))

"""A checkpoint saved from a compiled model is loaded into a plain one."""
import torch
from torch import nn

torch.save(torch.compile(nn.Linear(4, 2)).state_dict(), "model.pt")
nn.Linear(4, 2).load_state_dict(torch.load("model.pt"))

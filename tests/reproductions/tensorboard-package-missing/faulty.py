"""SummaryWriter is part of torch, the package behind it is not."""
from torch.utils.tensorboard import SummaryWriter

SummaryWriter()

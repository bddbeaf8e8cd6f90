"""The rows are padded to one length first."""
import numpy
import torch
from torch.nn.utils.rnn import pad_sequence

rows = [torch.tensor([1, 2, 3]), torch.tensor([4, 5])]
print(pad_sequence(rows, batch_first=True))
rows = numpy.zeros(1)

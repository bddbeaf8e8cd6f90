"""The flipped image is copied into plain order."""
import numpy
import torch

image = numpy.zeros((4, 4, 3), dtype="uint8")[:, ::-1].copy()
print(torch.from_numpy(image).shape)

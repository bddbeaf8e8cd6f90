"""A flipped image is a view with a negative stride."""
import numpy
import torch

image = numpy.zeros((4, 4, 3), dtype="uint8")[:, ::-1]
print(torch.from_numpy(image).shape)

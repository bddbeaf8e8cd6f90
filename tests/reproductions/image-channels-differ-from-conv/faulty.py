"""A greyscale picture reaches a network for three channels."""
import numpy
import torch
from PIL import Image
from torch import nn

Image.new("L", (16, 16)).save("grey.png")
image = torch.from_numpy(numpy.array(Image.open("grey.png"), dtype="float32"))[None, None]
print(nn.Conv2d(3, 8, 3)(image).shape)

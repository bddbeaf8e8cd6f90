"""Every picture is converted to RGB when it is opened."""
import numpy
import torch
from PIL import Image
from torch import nn

Image.new("L", (16, 16)).save("grey.png")
image = torch.from_numpy(numpy.array(Image.open("grey.png").convert("RGB"), dtype="float32")).permute(2, 0, 1)[None]
self = nn.Conv2d(3, 8, 3)
print(self(image).shape)
input = image

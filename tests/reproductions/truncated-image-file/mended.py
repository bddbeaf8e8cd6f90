"""The file was fetched again."""
import numpy
from PIL import Image

noise = numpy.random.default_rng(0).integers(0, 255, (64, 64, 3), dtype="uint8")
Image.fromarray(noise).save("cat.jpg")

print(Image.open("cat.jpg").convert("RGB").size)

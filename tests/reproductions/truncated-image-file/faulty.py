"""A download that broke off left half of a JPEG."""
import numpy
from PIL import Image

noise = numpy.random.default_rng(0).integers(0, 255, (64, 64, 3), dtype="uint8")
Image.fromarray(noise).save("whole.jpg")
half = open("whole.jpg", "rb").read()[:2000]
open("cat.jpg", "wb").write(half)

print(Image.open("cat.jpg").convert("RGB").size)

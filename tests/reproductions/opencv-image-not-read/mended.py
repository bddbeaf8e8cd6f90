"""The same file, present where it is looked for; a missing one would be named."""

import os

import cv2
import numpy

os.makedirs("images", exist_ok=True)
cv2.imwrite("images/cat.png", numpy.zeros((8, 8, 3), dtype=numpy.uint8))

path = "images/cat.png"
image = cv2.imread(path)
if image is None:
    raise FileNotFoundError(path)
print(cv2.cvtColor(image, cv2.COLOR_BGR2RGB).shape)

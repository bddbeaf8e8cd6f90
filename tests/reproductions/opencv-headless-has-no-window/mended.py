"""The same picture goes to a file, which works on every machine."""

import cv2
import numpy

image = numpy.zeros((8, 8, 3), dtype=numpy.uint8)
print(cv2.imwrite("preview.png", image))

"""A preview window is opened with the build of OpenCV that has no window code."""

import cv2
import numpy

image = numpy.zeros((8, 8, 3), dtype=numpy.uint8)
cv2.imshow("preview", image)
cv2.waitKey(1)

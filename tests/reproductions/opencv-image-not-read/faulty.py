"""imread says nothing about a missing file; the next call gets None."""

import cv2

path = "images/cat.png"
image = cv2.imread(path)
print(cv2.cvtColor(image, cv2.COLOR_BGR2RGB).shape)

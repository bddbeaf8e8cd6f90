"""The file holds an image."""
from PIL import Image

Image.new("RGB", (8, 8)).save("cat.jpg")
print(Image.open("cat.jpg").size)

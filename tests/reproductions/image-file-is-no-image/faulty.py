"""A server answered with an error page, which was saved as the image."""
from PIL import Image

open("cat.jpg", "w").write("<html><title>403 Forbidden</title></html>")
print(Image.open("cat.jpg").size)

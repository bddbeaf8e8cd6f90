"""A program that needs a scratch folder in a container that has none."""
import tempfile

with tempfile.TemporaryDirectory() as folder:
    print("unpacking to", folder)

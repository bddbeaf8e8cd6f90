"""The same program where /tmp can be written."""
import tempfile

with tempfile.TemporaryDirectory() as folder:
    print("unpacking to", folder)
